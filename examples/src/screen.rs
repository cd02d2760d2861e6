//! What a person sees: plain lines of at most 80 columns, with a little colour
//! where the terminal has it.
//!
//! Much of it comes from the other side of a connection, so characters that
//! could steer the terminal are never passed on.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// A place to show lines, which may come from several at once; a cheap handle.
#[derive(Clone)]
pub struct Screen {
    output: Arc<Mutex<Output>>,
    colours: bool,
    /// Whether this handle is that of the one who asks.
    asks: bool,
}

struct Output {
    out: Box<dyn Write + Send>,
    /// Whether somebody is being asked something.
    is_asking: bool,
    /// What the others have shown meanwhile.
    waiting: Vec<u8>,
}

/// A screen on which somebody is asked something. What others show meanwhile
/// is kept until this is dropped: nobody likes to be interrupted while typing.
pub(crate) struct Asking {
    screen: Screen,
    /// Whether a line has been begun that somebody types the rest of.
    is_typing: bool,
}

impl Screen {
    /// The standard output; with colours if that is a terminal and `NO_COLOR`
    /// is not set.
    pub fn stdout() -> Self {
        Self::of(io::stdout())
    }

    /// The standard error, likewise.
    pub fn stderr() -> Self {
        Self::of(io::stderr())
    }

    fn of(out: impl Write + IsTerminal + Send + 'static) -> Self {
        let colours = out.is_terminal() && colours_wanted();
        Self {
            colours,
            ..Self::plain(out)
        }
    }

    /// A screen without colours.
    pub fn plain(out: impl Write + Send + 'static) -> Self {
        let output = Output {
            out: Box::new(out),
            is_asking: false,
            waiting: Vec::new(),
        };
        Self {
            output: Arc::new(Mutex::new(output)),
            colours: false,
            asks: false,
        }
    }

    /// Shows text, indented and wrapped.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn show(&self, indent: usize, style: Style, text: &str) -> io::Result<()> {
        let lines = text.lines();
        let lines = lines.flat_map(|line| wrap(&harmless(line), WIDTH - indent));
        let lines = lines.map(|line| self.line(indent, style, &line));
        self.write(&lines.collect::<String>())
    }

    /// Shows lines that are laid out already.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn show_as_is(&self, style: Style, text: &str) -> io::Result<()> {
        let lines = text.lines();
        let lines = lines.map(|line| self.line(0, style, &harmless(line)));
        self.write(&lines.collect::<String>())
    }

    /// Shows an empty line.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn space(&self) -> io::Result<()> {
        self.write("\n")
    }

    /// Has the screen for a question.
    pub(crate) fn asking(&self) -> Asking {
        self.output().is_asking = true;
        let screen = Self {
            asks: true,
            ..self.clone()
        };
        Asking {
            screen,
            is_typing: false,
        }
    }

    fn line(&self, indent: usize, style: Style, line: &str) -> String {
        match style.code() {
            Some(code) if self.colours => format!("{:indent$}\x1b[{code}m{line}\x1b[0m\n", ""),
            _ => format!("{:indent$}{line}\n", ""),
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut output = self.output();
        if output.is_asking && !self.asks {
            output.waiting.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        output.out.write_all(text.as_bytes())?;
        output.out.flush()
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asking {
    /// Shows where to type.
    pub(crate) fn cursor(&mut self, indent: usize) -> io::Result<()> {
        self.is_typing = true;
        self.write(&format!("{:indent$}> ", ""))
    }

    /// What was typed has ended the line, on a terminal; elsewhere it is `shown`.
    pub(crate) fn typed(&mut self, shown: Option<&str>) -> io::Result<()> {
        self.is_typing = false;
        match shown {
            Some(shown) => self.write(&format!("{}\n", harmless(shown))),
            None => Ok(()),
        }
    }
}

impl std::ops::Deref for Asking {
    type Target = Screen;

    fn deref(&self) -> &Screen {
        &self.screen
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut output = self.output();
        output.is_asking = false;
        let mut waiting = std::mem::take(&mut output.waiting);
        if self.is_typing {
            waiting.insert(0, b'\n');
        }
        // If that fails, so does whatever is shown next.
        let _ = output.out.write_all(&waiting);
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

fn colours_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
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

/// A screen that a test can read.
#[cfg(test)]
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<u8>>>);

#[cfg(test)]
impl Seen {
    pub(crate) fn screen(&self) -> Screen {
        Screen::plain(self.clone())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[cfg(test)]
impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(indent: usize, text: &str) -> String {
        let seen = Seen::default();
        seen.screen().show(indent, Style::Bad, text).unwrap();
        seen.text()
    }

    #[test]
    fn nobody_is_interrupted_while_typing() {
        let seen = Seen::default();
        let screen = seen.screen();
        let mut asking = screen.asking();
        screen.show(0, Style::Plain, "news").unwrap();
        asking.show(0, Style::Plain, "Well?").unwrap();
        asking.cursor(0).unwrap();
        asking.typed(Some("yes")).unwrap();
        assert_eq!(seen.text(), "Well?\n> yes\n");
        drop(asking);
        screen.show(0, Style::Plain, "more").unwrap();
        assert_eq!(seen.text(), "Well?\n> yes\nnews\nmore\n");
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
