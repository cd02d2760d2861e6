//! A line of text that a person types: with the keys that every command line has, a
//! rule that is told at once, and an end when the question is taken back.
//!
//! It is our own because the prompt of `inquire`, which asks for everything else, types
//! the letter of Ctrl-U, Ctrl-W or Ctrl-A, and waits for a key for as long as none comes.

mod frame;
mod typed;

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind};
use crossterm::style::Color;
use crossterm::{execute, terminal};

use super::Stopped;
use crate::prompt::AT_ONCE;
use crate::screen::{harmless, shown_whole, wrap};
use frame::{Drawn, Frame, Piece};
use typed::{Pressed, Typed};

/// How often it is looked whether the question has been taken back.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is asked for.
pub(super) struct Line<'a> {
    pub(super) label: &'a str,
    /// What an empty line stands for, if for anything.
    pub(super) default: Option<&'a str>,
    pub(super) help: &'a str,
    pub(super) colours: bool,
    /// Whether the question has been taken back.
    pub(super) over: &'a AtomicBool,
}

/// The terminal, while single keys are read from it.
struct Keys;

impl Keys {
    fn read_from_here_on() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        // Left again by being dropped, also if this fails.
        let keys = Self;
        execute!(io::stderr(), EnableBracketedPaste)?;
        Ok(keys)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // What does not work now will not work later either.
        drop(execute!(io::stderr(), DisableBracketedPaste));
        drop(terminal::disable_raw_mode());
    }
}

impl Line<'_> {
    /// Reads a line that `judge` finds nothing wrong with, and gives what it has made
    /// of it. The `text` is what there is at the beginning, and at the end.
    pub(super) fn read<T>(
        &self,
        text: &mut String,
        judge: impl Fn(&str) -> Result<T, String>,
        shown: impl Fn(&str) -> String,
    ) -> Result<T, Stopped> {
        let keys = Keys::read_from_here_on().map_err(Stopped::Broken)?;
        let mut typed = Typed::new(text);
        let mut wrong: Option<String> = None;
        let mut drawn = Drawn::default();
        loop {
            // What comes faster than it could be shown is shown when it is all there.
            if !event::poll(AT_ONCE).map_err(Stopped::Broken)? {
                drawn = self
                    .draw(&typed, wrong.as_deref(), &drawn)
                    .map_err(Stopped::Broken)?;
            }
            let pressed = match self.next().map_err(Stopped::Broken)? {
                None => Pressed::Escape,
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => typed.press(key),
                Some(Event::Paste(text)) => {
                    typed.paste(&text);
                    Pressed::Edited
                }
                Some(_) => Pressed::Edited,
            };
            let (left, said) = match pressed {
                Pressed::Edited => continue,
                Pressed::Enter => match judge(typed.text()) {
                    Ok(value) => {
                        let left = self.leave(&drawn, Some(&shown(typed.text())));
                        (left, Ok(value))
                    }
                    Err(rule) => {
                        wrong = Some(format!("It {rule}."));
                        continue;
                    }
                },
                Pressed::Escape => (self.leave(&drawn, None), Err(Stopped::Escape)),
                Pressed::Interrupt => {
                    let left = self
                        .draw(&typed, wrong.as_deref(), &drawn)
                        .and_then(|drawn| drawn.leave(&mut io::stderr().lock()));
                    (left, Err(Stopped::Interrupt))
                }
            };
            left.map_err(Stopped::Broken)?;
            drop(keys);
            typed.text().clone_into(text);
            return said;
        }
    }

    /// What happens next at the terminal; nothing if the question has been taken back.
    fn next(&self) -> io::Result<Option<Event>> {
        while !event::poll(LOOK_EVERY)? {
            if self.over.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        event::read().map(Some)
    }

    fn coloured(&self, colour: Color) -> Option<Color> {
        self.colours.then_some(colour)
    }

    fn draw(&self, typed: &Typed, wrong: Option<&str>, before: &Drawn) -> io::Result<Drawn> {
        let (columns, height) = size();
        // The last column stays free: terminals differ in what they do after it.
        let width = columns.saturating_sub(1).max(1);
        let mut frame = Frame::default();
        if let Some(wrong) = wrong {
            let sign = if self.colours { "✗" } else { "#" };
            let red = self.coloured(Color::Red);
            for (index, line) in wrap(&harmless(wrong), width.saturating_sub(2).max(1))
                .iter()
                .enumerate()
            {
                let sign = if index == 0 { sign } else { " " };
                frame.push(
                    &[Piece(red, sign), Piece(None, " "), Piece(red, line)],
                    None,
                    width,
                );
            }
        }
        let default = self
            .default
            .map(|default| format!("({default}) "))
            .unwrap_or_default();
        let label = format!(" {} {default}", self.label);
        let (left, right) = typed.parts();
        let pieces = [
            Piece(self.coloured(Color::Cyan), "?"),
            Piece(None, &label),
            Piece(None, &shown_whole(left)),
            Piece(None, &shown_whole(right)),
        ];
        frame.push(&pieces, Some(3), width);
        let grey = self.coloured(Color::DarkGrey);
        if !self.help.is_empty() {
            for line in wrap(&format!("[{}]", self.help), width) {
                frame.push(&[Piece(grey, &line)], None, width);
            }
        }
        let mut out = io::stderr().lock();
        frame.draw(&mut out, before, (columns, height.saturating_sub(1).max(1)))
    }

    /// Leaves a line behind that says what came of it.
    fn leave(&self, drawn: &Drawn, answer: Option<&str>) -> io::Result<()> {
        let (columns, _) = size();
        let mut out = io::stderr().lock();
        drawn.clear(&mut out, columns)?;
        let mut frame = Frame::default();
        let (sign, sign_colour) = match answer {
            Some(_) if self.colours => ("✓", Color::Green),
            Some(_) => ("*", Color::Green),
            None => ("?", Color::Cyan),
        };
        let (words, words_colour) = match answer {
            Some(answer) => (answer, Color::Cyan),
            None => ("(interrupted)", Color::DarkGrey),
        };
        let label = format!(" {} ", self.label);
        let pieces = [
            Piece(self.coloured(sign_colour), sign),
            Piece(None, &label),
            Piece(self.coloured(words_colour), words),
            Piece(None, ""),
        ];
        let width = columns.saturating_sub(1).max(1);
        frame.push(&pieces, Some(3), width);
        frame.draw(&mut out, &Drawn::default(), (columns, usize::MAX))?;
        out.write_all(b"\r\n")?;
        out.flush()
    }
}

/// The columns and the rows of the terminal.
fn size() -> (usize, usize) {
    match terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 1 => (columns.into(), rows.into()),
        _ => (80, 24),
    }
}
