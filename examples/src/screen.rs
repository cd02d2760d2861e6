//! What a person sees: plain lines of at most 80 columns, with a little colour
//! where the terminal has it.
//!
//! Much of it comes from the other side of a connection, so characters that
//! could steer the terminal are never passed on.

use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};

/// The columns that are used.
pub const WIDTH: usize = 80;

/// How a line looks on a terminal that shows colours; words alone must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// Headings, and what a person is asked.
    Bold,
    /// What is there for completeness.
    Dim,
    /// It went well.
    Good,
    /// It did not.
    Bad,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
        }
    }
}

/// A place to show lines.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    colours: bool,
}

impl Screen<Stdout> {
    /// The standard output; with colours if that is a terminal and `NO_COLOR`
    /// is not set.
    pub fn stdout() -> Self {
        let out = io::stdout();
        let colours = out.is_terminal() && colours_wanted();
        Self { out, colours }
    }
}

impl Screen<Stderr> {
    /// The standard error, likewise.
    pub fn stderr() -> Self {
        let out = io::stderr();
        let colours = out.is_terminal() && colours_wanted();
        Self { out, colours }
    }
}

fn colours_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

impl<W: Write> Screen<W> {
    /// A screen without colours.
    pub fn plain(out: W) -> Self {
        Self {
            out,
            colours: false,
        }
    }

    /// Shows text, indented and wrapped.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn show(&mut self, indent: usize, style: Style, text: &str) -> io::Result<()> {
        for line in text.lines() {
            for line in wrap(&harmless(line), WIDTH - indent) {
                self.line(indent, style, &line)?;
            }
        }
        Ok(())
    }

    /// Shows lines that are laid out already.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn show_as_is(&mut self, style: Style, text: &str) -> io::Result<()> {
        for line in text.lines() {
            self.line(0, style, &harmless(line))?;
        }
        Ok(())
    }

    /// Shows an empty line.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn space(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Shows where to type.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn cursor(&mut self, indent: usize) -> io::Result<()> {
        write!(self.out, "{:indent$}> ", "")?;
        self.out.flush()
    }

    /// Ends the line that [`cursor`](Self::cursor) began.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn finish_line(&mut self, typed: &str) -> io::Result<()> {
        writeln!(self.out, "{}", harmless(typed))
    }

    fn line(&mut self, indent: usize, style: Style, line: &str) -> io::Result<()> {
        match style.code() {
            Some(code) if self.colours => {
                writeln!(self.out, "{:indent$}\x1b[{code}m{line}\x1b[0m", "")
            }
            _ => writeln!(self.out, "{:indent$}{line}", ""),
        }
    }
}

/// The line without characters that a terminal would act on.
fn harmless(line: &str) -> String {
    let harmless = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    line.chars().map(harmless).collect()
}

/// Breaks a line at spaces, and where it must, within words.
fn wrap(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    for word in line.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        if used > 0 && used + 1 + word.len() > width {
            lines.push(std::mem::take(&mut current));
            used = 0;
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        if used > 0 {
            current.push(' ');
            used += 1;
        }
        used += word.len();
        current.extend(word);
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(indent: usize, text: &str) -> String {
        let mut out = Vec::new();
        let mut screen = Screen::plain(&mut out);
        screen.show(indent, Style::Bad, text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_wrapped_at_spaces_and_keeps_its_lines() {
        let text = format!("{}\n  kept", "word ".repeat(30).trim_end());
        let shown = shown(4, &text);
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(shown.lines().count(), 3);
        assert!(shown.ends_with("\n      kept\n"));
        assert_eq!(shown.matches("word").count(), 30);
    }

    #[test]
    fn a_word_that_is_too_long_is_broken() {
        let shown = shown(2, &format!("see {}", "x".repeat(200)));
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(shown.matches('x').count(), 200);
    }

    #[test]
    fn nothing_from_outside_steers_the_terminal() {
        assert_eq!(shown(0, "a\x1b[2Jb\u{9b}c"), "a\u{fffd}[2Jb\u{fffd}c\n");
    }
}
