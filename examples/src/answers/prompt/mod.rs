//! Puts a form to a person at a terminal, field by field.
//!
//! What is typed is judged at once, by the rules that the server will hold it
//! to, so that a slip costs one more line and not a round trip.

mod field;

use std::io::{self, IsTerminal as _};

use mcp_tasks::client::{Answer, Answers, Question, QuestionKind};
use mcp_tasks::protocol::{Content, Field, Form, InputKind, ProtocolError};
use tokio::sync::Mutex;

use super::Keyboard;
use crate::screen::{Asking, Screen, Style};

const INDENT: usize = 2;

/// A person at a terminal, or whatever else reads and writes lines.
#[derive(Debug)]
pub struct Prompt {
    /// Whoever has it asks; the others wait for their turn.
    keyboard: Mutex<Keyboard>,
    screen: Screen,
    echo: bool,
}

/// A question that is being put.
struct Conversation<'a> {
    keyboard: &'a mut Keyboard,
    screen: Asking,
    echo: bool,
}

/// What was typed in place of a value.
struct Left(Answer);

impl Prompt {
    /// Asks on `screen` whoever types at `keyboard`.
    pub fn new(keyboard: Keyboard, screen: &Screen) -> Self {
        Self {
            keyboard: Mutex::new(keyboard),
            screen: screen.clone(),
            echo: false,
        }
    }

    /// Asks whoever types at the standard input.
    pub fn stdin(screen: &Screen) -> Self {
        let input = io::stdin();
        let echo = !input.is_terminal();
        Self::new(Keyboard::new(io::BufReader::new(input)), screen).echo(echo)
    }

    /// Shows what was read, for an input that, unlike a terminal, does not.
    #[must_use]
    pub fn echo(mut self, echo: bool) -> Self {
        self.echo = echo;
        self
    }

    async fn ask(&self, question: &Question, refusal: Option<&str>) -> io::Result<Answer> {
        let mut keyboard = self.keyboard.lock().await;
        let conversation = Conversation {
            keyboard: &mut keyboard,
            screen: self.screen.asking(),
            echo: self.echo,
        };
        conversation.put(question, refusal).await
    }
}

impl Answers for Prompt {
    async fn answer(&self, question: Question) -> Option<Answer> {
        let answer = self.ask(&question, None).await;
        // A screen that cannot be written to has nobody before it.
        Some(answer.unwrap_or_else(|_| Answer::dismiss()))
    }

    async fn refused(&self, question: Question, refusal: ProtocolError) -> Option<Answer> {
        let answer = self.ask(&question, Some(&refusal.message)).await;
        Some(answer.unwrap_or_else(|_| Answer::dismiss()))
    }

    fn kinds(&self) -> Vec<InputKind> {
        vec![InputKind::Form]
    }
}

impl Conversation<'_> {
    async fn put(mut self, question: &Question, refusal: Option<&str>) -> io::Result<Answer> {
        self.screen.space()?;
        if let Some(refusal) = refusal {
            self.say(Style::Bad, "The server does not take this answer:")?;
            self.say(Style::Bad, refusal)?;
            self.screen.space()?;
        }
        let heading = format!("The server asks (key `{}`):", question.key);
        self.screen.show(0, Style::Plain, &heading)?;
        self.screen.space()?;
        let QuestionKind::Form { message, form } = &question.kind else {
            self.say(Style::Bad, "something that is no form, and was not offered")?;
            return Ok(Answer::dismiss());
        };
        self.say(Style::Bold, message)?;
        self.screen.space()?;
        self.say(
            Style::Dim,
            "Enter takes what stands in [brackets]. /decline says no to the whole \
             question, /cancel closes it.",
        )?;
        let filled_in = self.fill_in(form).await?;
        self.screen.space()?;
        match filled_in {
            Ok(content) => Answer::accept(content).map_err(io::Error::from),
            Err(Left(answer)) => Ok(answer),
        }
    }

    async fn fill_in(&mut self, form: &Form) -> io::Result<Result<Content, Left>> {
        if form.is_empty() {
            return self.confirm().await;
        }
        let mut content = Content::new();
        for (name, field) in form.fields() {
            let required = form.is_required(name);
            match self.field(name, field, required).await? {
                Ok(Some(value)) => content.insert(name, value),
                Ok(None) => {}
                Err(left) => return Ok(Err(left)),
            }
        }
        Ok(Ok(content))
    }

    /// Asks for one field until what is typed fits.
    async fn field(
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
            let typed = match self.read().await? {
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
    async fn confirm(&mut self) -> io::Result<Result<Content, Left>> {
        self.screen.space()?;
        self.say(Style::Dim, "yes or no [yes]")?;
        loop {
            let typed = match self.read().await? {
                Ok(typed) => typed,
                Err(left) => return Ok(Err(left)),
            };
            match field::yes_or_no(&typed) {
                None if typed.is_empty() => return Ok(Ok(Content::new())),
                Some(true) => return Ok(Ok(Content::new())),
                Some(false) => return Ok(Err(Left(Answer::decline()))),
                None => self.say(Style::Bad, "It must be yes or no. Please try again.")?,
            }
        }
    }

    /// Reads a line; the end of the input closes the question.
    async fn read(&mut self) -> io::Result<Result<String, Left>> {
        self.screen.cursor(INDENT)?;
        let typed = self.keyboard.line().await;
        let shown = match typed.as_deref() {
            None => Some("(end of input)"),
            typed => typed.filter(|_| self.echo),
        };
        self.screen.typed(shown)?;
        Ok(match typed.as_deref() {
            None | Some("/cancel") => Err(Left(Answer::dismiss())),
            Some("/decline") => Err(Left(Answer::decline())),
            Some(typed) => Ok(typed.to_owned()),
        })
    }

    fn say(&self, style: Style, text: &str) -> io::Result<()> {
        self.screen.show(INDENT, style, text)
    }
}

#[cfg(test)]
mod tests;
