//! What people see: lines that fit the terminal, with a little colour where that
//! is wanted.
//!
//! Much of it comes from the other side of a connection, so characters that could
//! steer the terminal are never passed on.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use console::{Style as Colours, Term, measure_text_width};

/// The columns of what is not a terminal, and the most that prose is given.
const USUAL_WIDTH: usize = 80;
const WIDEST_PROSE: usize = 100;
const NARROWEST: usize = 20;

/// How something looks where colours are shown; words alone must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// As it is.
    Plain,
    /// Headings, and what a person is asked.
    Bold,
    /// What is there for completeness.
    Dim,
    /// It went well.
    Good,
    /// Somebody should look at it.
    Notable,
    /// It did not go well.
    Bad,
}

/// Where something is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

/// One of the two streams, and what it can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    stream: Stream,
    terminal: bool,
    colours: bool,
}

impl Screen {
    /// The standard output.
    pub(crate) fn stdout() -> Self {
        Self::of(Stream::Out, io::stdout().is_terminal())
    }

    /// The standard error.
    pub(crate) fn stderr() -> Self {
        Self::of(Stream::Err, io::stderr().is_terminal())
    }

    fn of(stream: Stream, terminal: bool) -> Self {
        Self {
            stream,
            terminal,
            colours: terminal && colours_wanted(),
        }
    }

    /// Whether a person looks at it.
    pub(crate) fn is_terminal(self) -> bool {
        self.terminal
    }

    /// How many columns there are.
    pub(crate) fn width(self) -> usize {
        let term = match self.stream {
            Stream::Out => Term::stdout(),
            Stream::Err => Term::stderr(),
        };
        match term.size_checked() {
            Some((_, columns)) if self.terminal && columns > 0 => {
                usize::from(columns).max(NARROWEST)
            }
            _ => USUAL_WIDTH,
        }
    }

    /// How many lines a terminal has.
    pub(crate) fn height(self) -> Option<usize> {
        let term = match self.stream {
            Stream::Out => Term::stdout(),
            Stream::Err => Term::stderr(),
        };
        let (lines, _) = term.size_checked().filter(|_| self.terminal)?;
        Some(usize::from(lines)).filter(|lines| *lines > 0)
    }

    /// The text with its look.
    pub(crate) fn paint(self, look: Look, text: impl Into<String>) -> String {
        let text = text.into();
        if !self.colours {
            return text;
        }
        let style = Colours::new().force_styling(true);
        let style = match look {
            Look::Plain => return text,
            Look::Bold => style.bold(),
            Look::Dim => style.dim(),
            Look::Good => style.green(),
            Look::Notable => style.yellow(),
            Look::Bad => style.red(),
        };
        style.apply_to(text).to_string()
    }

    /// Shows text, indented and broken into lines that fit.
    pub(crate) fn prose(self, indent: usize, look: Look, text: &str) -> io::Result<()> {
        let width = self.width().min(WIDEST_PROSE).saturating_sub(indent).max(1);
        let mut lines = String::new();
        for line in text.lines() {
            for line in wrap(&harmless(line), width) {
                let line = self.paint(look, line);
                lines.push_str(format!("{:indent$}{line}", "").trim_end_matches(' '));
                lines.push('\n');
            }
        }
        self.write(&lines)
    }

    /// Shows a line that is laid out already.
    pub(crate) fn line(self, line: &str) -> io::Result<()> {
        self.write(&format!("{line}\n"))
    }

    /// Writes text as it is, for a program to read.
    pub(crate) fn raw(self, text: &str) -> io::Result<()> {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(&format!("{text}{end}"))
    }

    /// Writes what is ready to be written.
    fn write(self, text: &str) -> io::Result<()> {
        match self.stream {
            Stream::Out => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()
            }
            Stream::Err => io::stderr().lock().write_all(text.as_bytes()),
        }
    }
}

/// Whether the environment has nothing against colours.
pub(crate) fn colours_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && !is_dumb()
}

/// Whether the terminal is one that knows nothing but lines.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The line without characters that a terminal would act on, or that would show
/// it in another order than it has.
pub(crate) fn harmless(line: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() || is_direction(c);
    if !line.contains(is_harmful) {
        return Cow::Borrowed(line);
    }
    let harmless = |c: char| match c {
        '\t' | '\n' => ' ',
        c if is_harmful(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    Cow::Owned(line.chars().map(harmless).collect())
}

/// A text of several lines in one, with nothing left out that was typed.
pub(crate) fn shown_whole(text: &str) -> String {
    harmless(&text.replace('\n', "↵")).into_owned()
}

/// Whether it changes the direction in which text is shown.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of one line that takes at most so many columns.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    console::truncate_str(&harmless(text), columns, "…").into_owned()
}

/// A text with spaces after it, up to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(measure_text_width(text));
    format!("{text}{:missing$}", "")
}

/// Breaks a line at spaces, and where it must, within words. What goes on in the next
/// line is indented as the first one is; that of an item of a list, as its text.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<String> {
    if measure_text_width(line) <= width {
        return vec![line.to_owned()];
    }
    let text = line.trim_start_matches(' ');
    // Of a terminal that is all indentation, nothing would be left.
    let indent = (line.len() - text.len()).min(width / 2);
    let mark = if text.starts_with("- ") { "- " } else { "" };
    let text = &text[mark.len()..];
    let hanging = " ".repeat(indent + mark.len());
    let width = width.saturating_sub(hanging.len()).max(1);
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    let mut end = |current: &mut String| {
        let start = if lines.is_empty() {
            format!("{}{mark}", &hanging[mark.len()..])
        } else {
            hanging.clone()
        };
        lines.push(start + &std::mem::take(current));
    };
    for word in text.split(' ') {
        let mut word = word;
        let mut wide = measure_text_width(word);
        if used > 0 && used + 1 + wide > width {
            end(&mut current);
            used = 0;
        } else if used > 0 {
            current.push(' ');
            used += 1;
        }
        while wide > width - used {
            let (start, rest) = word.split_at(fitting(word, width - used));
            current.push_str(start);
            end(&mut current);
            used = 0;
            word = rest;
            wide = measure_text_width(word);
        }
        current.push_str(word);
        used += wide;
    }
    end(&mut current);
    lines
}

/// How many bytes of a word fit; at least one character does.
fn fitting(word: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, c) in word.char_indices() {
        used += measure_text_width(c.encode_utf8(&mut [0; 4]));
        if used > width && at > 0 {
            return at;
        }
    }
    word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_spaces() {
        let text = "word ".repeat(30);
        let lines = wrap(text.trim_end(), 24);
        assert!(lines.iter().all(|line| line.chars().count() <= 24));
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[0], "word word word word word");
    }

    #[test]
    fn what_is_indented_stays_so() {
        assert_eq!(wrap("  - one two three", 12), ["  - one two", "    three"]);
        assert_eq!(wrap("    aaaa bbbb", 9), ["    aaaa", "    bbbb"]);
        assert_eq!(wrap("  x", 3), ["  x"]);
        assert!(
            wrap(&" ".repeat(40), 10)
                .iter()
                .all(|line| line.trim().is_empty())
        );
    }

    #[test]
    fn a_word_that_is_too_long_is_broken() {
        let lines = wrap(&format!("see {}", "x".repeat(50)), 20);
        assert!(
            lines.iter().all(|line| line.chars().count() <= 20),
            "{lines:?}"
        );
        assert_eq!(lines.concat().matches('x').count(), 50);
    }

    #[test]
    fn wide_characters_count_for_the_columns_that_they_take() {
        let lines = wrap(&"漢".repeat(15), 20);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].chars().count(), 10);
    }

    #[test]
    fn nothing_from_outside_steers_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\u{9b}c"), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(harmless("a\u{202e}b\tc"), "a\u{fffd}b c");
        assert_eq!(cut("a\x1b[31m\nlong line", 8), "a\u{fffd}[31m …");
    }
}
