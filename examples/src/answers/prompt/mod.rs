//! Puts a form to a person at a terminal, field by field.
//!
//! What is typed is judged at once, by the rules that the server will hold it
//! to, so that a slip costs one more line and not a round trip.

mod field;

use std::io::{self, BufRead, Write};

use mcp_tasks::protocol::{Content, Field};
use serde_json::value::to_raw_value;

use super::{Action, Answer, Answers, AnswersError, Question};
use crate::screen::{Screen, Style};

const INDENT: usize = 2;

/// A person at a terminal, or whatever else reads and writes lines.
#[derive(Debug)]
pub struct Prompt<R, W> {
    input: R,
    screen: Screen<W>,
    echo: bool,
}

/// What was typed in place of a value.
struct Left(Action);

impl<R: BufRead, W: Write> Prompt<R, W> {
    /// Asks on `screen` and reads from `input`.
    pub fn new(input: R, screen: Screen<W>) -> Self {
        Self {
            input,
            screen,
            echo: false,
        }
    }

    /// Shows what was read, for an input that, unlike a terminal, does not.
    #[must_use]
    pub fn echo(mut self, echo: bool) -> Self {
        self.echo = echo;
        self
    }

    fn fill_in(&mut self, question: &Question) -> io::Result<Result<Content, Left>> {
        if question.form.is_empty() {
            return self.confirm();
        }
        let mut content = Content::new();
        for (name, field) in question.form.fields() {
            let required = question.form.is_required(name);
            match self.field(name, field, required)? {
                Ok(Some(value)) => content.insert(name, value),
                Ok(None) => {}
                Err(left) => return Ok(Err(left)),
            }
        }
        Ok(Ok(content))
    }

    /// Asks for one field until what is typed fits.
    fn field(
        &mut self,
        name: &str,
        field: &Field,
        required: bool,
    ) -> io::Result<Result<Option<serde_json::Value>, Left>> {
        self.screen.space()?;
        self.say(Style::Bold, &field::label(name, field))?;
        for (index, label) in field::choices(&field.kind).enumerate() {
            self.say(Style::Plain, &format!("  {}  {label}", index + 1))?;
        }
        self.say(Style::Dim, &field::hint(&field.kind, required))?;
        loop {
            let typed = match self.read()? {
                Ok(typed) => typed,
                Err(left) => return Ok(Err(left)),
            };
            match field::parse(&field.kind, required, &typed) {
                Ok(value) => return Ok(Ok(value)),
                Err(rule) => {
                    self.say(Style::Bad, &format!("It {rule}. Please try again."))?;
                }
            }
        }
    }

    /// Asks for nothing but a yes.
    fn confirm(&mut self) -> io::Result<Result<Content, Left>> {
        self.screen.space()?;
        self.say(Style::Dim, "yes or no [yes]")?;
        loop {
            let typed = match self.read()? {
                Ok(typed) => typed,
                Err(left) => return Ok(Err(left)),
            };
            match field::yes_or_no(&typed) {
                None if typed.is_empty() => return Ok(Ok(Content::new())),
                Some(true) => return Ok(Ok(Content::new())),
                Some(false) => return Ok(Err(Left(Action::Decline))),
                None => self.say(Style::Bad, "It must be yes or no. Please try again.")?,
            }
        }
    }

    /// Reads a line; the end of the input closes the question.
    fn read(&mut self) -> io::Result<Result<String, Left>> {
        self.screen.cursor(INDENT)?;
        let mut line = String::new();
        let ended = self.input.read_line(&mut line)? == 0;
        let typed = line.trim();
        if self.echo || ended {
            let shown = if ended { "(end of input)" } else { typed };
            self.screen.finish_line(shown)?;
        }
        Ok(match typed {
            _ if ended => Err(Left(Action::Cancel)),
            "/decline" => Err(Left(Action::Decline)),
            "/cancel" => Err(Left(Action::Cancel)),
            typed => Ok(typed.to_owned()),
        })
    }

    fn say(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.screen.show(INDENT, style, text)
    }
}

impl<R: BufRead, W: Write> Answers for Prompt<R, W> {
    fn answer(
        &mut self,
        question: &Question,
        refusal: Option<&str>,
    ) -> Result<Answer, AnswersError> {
        self.screen.space()?;
        if let Some(refusal) = refusal {
            self.say(Style::Bad, "The server does not take this answer:")?;
            self.say(Style::Bad, refusal)?;
            self.screen.space()?;
        }
        let heading = format!("The server asks (key `{}`):", question.key);
        self.screen.show(0, Style::Plain, &heading)?;
        self.screen.space()?;
        self.say(Style::Bold, &question.message)?;
        self.screen.space()?;
        self.say(
            Style::Dim,
            "Enter takes what stands in [brackets]. /decline says no to the whole \
             question, /cancel closes it.",
        )?;
        let filled_in = self.fill_in(question)?;
        self.screen.space()?;
        Ok(match filled_in {
            Ok(content) => Answer {
                action: Action::Accept,
                content: Some(to_raw_value(&content).map_err(io::Error::from)?),
            },
            Err(Left(action)) => action.into(),
        })
    }
}

#[cfg(test)]
mod tests;
