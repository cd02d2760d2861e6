//! Puts a question to a person: a form field by field, or a URL.
//!
//! What is typed is judged at once, by the rules that the server will hold it to.
//! At any moment the person may say no to the whole question, close it, or leave
//! it to others.

pub(crate) mod field;
mod line;
mod lines;
mod menu;
mod rich;
#[cfg(test)]
mod tests;
mod url;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_tasks::client::{Answer, Question, QuestionKind};
use mcp_tasks::protocol::{Content, Field, Form};
use serde_json::Value;

use crate::screen::{Look, Screen};
pub(crate) use lines::Lines;
pub(crate) use menu::leave_menu;
use menu::{Way, escape_menu, leave_now, stopped_at_choice};
pub(crate) use rich::Rich;
use url::open_url;

/// What a person does with a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// Fills it in.
    Accept(Content),
    /// Agrees to open a URL.
    Consent,
    /// Says no.
    Decline,
    /// Closes it without choosing.
    Dismiss,
}

/// What came of putting a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    /// An answer.
    Replied(Reply),
    /// Somebody else is to answer it.
    LeftOpen,
    /// The person leaves, and the task goes on.
    Detach,
    /// The person wants the task cancelled.
    CancelTask,
    /// The terminal cannot be used.
    Broken(String),
}

/// What a person wants who has pressed Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    GoOn,
    Detach,
    Cancel,
}

/// Why a field has no value.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The person wants something other than to fill it in.
    Escape,
    /// The person wants to leave.
    Interrupt,
    /// The person said at once what is to become of the question.
    Reply(Reply),
    /// The question has been taken back.
    Over,
    /// The terminal cannot be used.
    Broken(io::Error),
}

/// How a person is asked for values and for choices.
pub(crate) trait Desk {
    /// How to get out of a question, in words.
    fn ways_out(&self) -> &'static str;

    /// Asks for the value of a field, which has one already if it is asked for
    /// again.
    fn field(
        &mut self,
        name: &str,
        field: &Field,
        required: bool,
        now: Option<&Value>,
    ) -> Result<Option<Value>, Stopped>;

    /// Has one of these chosen.
    fn choose(&mut self, message: &str, options: &[String]) -> Result<usize, Stopped>;
}

/// A desk at which nobody goes on with a question that has been taken back.
struct Watched<'a, D> {
    desk: D,
    over: &'a AtomicBool,
}

impl<D> Watched<'_, D> {
    fn unless_over<T>(&self, said: Result<T, Stopped>) -> Result<T, Stopped> {
        if self.over.load(Ordering::Relaxed) {
            return Err(Stopped::Over);
        }
        said
    }
}

impl<D: Desk> Desk for Watched<'_, D> {
    fn ways_out(&self) -> &'static str {
        self.desk.ways_out()
    }

    fn field(
        &mut self,
        name: &str,
        field: &Field,
        required: bool,
        now: Option<&Value>,
    ) -> Result<Option<Value>, Stopped> {
        let said = self.desk.field(name, field, required, now);
        self.unless_over(said)
    }

    fn choose(&mut self, message: &str, options: &[String]) -> Result<usize, Stopped> {
        let said = self.desk.choose(message, options);
        self.unless_over(said)
    }
}

/// An answer that the server has not taken.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// Why.
    pub(crate) words: String,
    /// What was filled in: nobody does that twice.
    pub(crate) content: Option<Content>,
}

impl Reply {
    /// The answer that is sent.
    pub(crate) fn to_answer(&self) -> serde_json::Result<Answer> {
        Ok(match self {
            Self::Accept(content) => Answer::accept(content)?,
            Self::Consent => Answer::consent(),
            Self::Decline => Answer::decline(),
            Self::Dismiss => Answer::dismiss(),
        })
    }

    /// What was done, as in "question `approval` answered".
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::Accept(_) => "answered",
            Self::Consent => "agreed to",
            Self::Decline => "declined",
            Self::Dismiss => "dismissed",
        }
    }
}

/// Shows a question and has it answered, unless it is `over` before.
pub(crate) fn ask(
    desk: impl Desk,
    screen: Screen,
    question: &Question,
    refusal: Option<&Refusal>,
    can_detach: bool,
    over: &AtomicBool,
) -> Asked {
    let mut desk = Watched { desk, over };
    let before = refusal.and_then(|refusal| refusal.content.as_ref());
    let asked = introduce(screen, question, refusal, desk.ways_out())
        .map_err(Stopped::Broken)
        .and_then(|()| match &question.kind {
            QuestionKind::Form { form, .. } => fill_in(&mut desk, form, before, can_detach),
            QuestionKind::Url { url, .. } => open_url(&mut desk, screen, url, can_detach),
            // Nothing else is declared.
            _ => Ok(Asked::Replied(Reply::Dismiss)),
        });
    asked.unwrap_or_else(|stopped| match stopped {
        Stopped::Reply(reply) => Asked::Replied(reply),
        Stopped::Broken(error) => Asked::Broken(error.to_string()),
        Stopped::Escape | Stopped::Over => Asked::LeftOpen,
        Stopped::Interrupt => leave_now(can_detach),
    })
}

fn introduce(
    screen: Screen,
    question: &Question,
    refusal: Option<&Refusal>,
    ways_out: &str,
) -> io::Result<()> {
    screen.line("")?;
    if let Some(refusal) = refusal {
        let words = format!("The server does not take this answer: {}", refusal.words);
        screen.prose(0, Look::Bad, &words)?;
        screen.line("")?;
    }
    let who = question.tool.as_deref().unwrap_or("The task");
    let heading = format!("{who} asks (question `{}`):", question.key);
    screen.prose(0, Look::Dim, &heading)?;
    screen.prose(2, Look::Bold, question.message())?;
    if !ways_out.is_empty() {
        screen.prose(0, Look::Dim, ways_out)?;
    }
    screen.line("")
}

fn fill_in(
    desk: &mut impl Desk,
    form: &Form,
    before: Option<&Content>,
    can_detach: bool,
) -> Result<Asked, Stopped> {
    let fields: Vec<(&str, &Field)> = form.fields().collect();
    if fields.is_empty() {
        return confirm(desk, can_detach);
    }
    let value = |name: &str| before.and_then(|before| before.get(name)).cloned();
    let mut values: Vec<Option<Value>> = fields.iter().map(|(name, _)| value(name)).collect();
    let mut at = 0;
    while at < fields.len() {
        let is_first = at == 0;
        // What was filled in before is there again.
        let now = values[at].clone();
        match one(desk, form, fields[at], now.as_ref(), is_first, can_detach)? {
            Step::Value(value) => values[at] = value,
            Step::Back => {
                at = at.saturating_sub(1);
                continue;
            }
            Step::Out(asked) => return Ok(asked),
        }
        at += 1;
    }
    loop {
        let content: Content = fields
            .iter()
            .zip(&values)
            .filter_map(|((name, _), value)| Some((*name, value.clone()?)))
            .collect();
        if fields.len() == 1 {
            return Ok(Asked::Replied(Reply::Accept(content)));
        }
        match review(desk, can_detach)? {
            Review::Send => return Ok(Asked::Replied(Reply::Accept(content))),
            Review::Out(asked) => return Ok(asked),
            Review::Change => {}
        }
        let options: Vec<_> = fields
            .iter()
            .zip(&values)
            .map(|((name, field), value)| {
                let shown = value
                    .as_ref()
                    .map_or_else(|| "(empty)".to_owned(), |v| field::shown(&field.kind, v));
                format!("{}: {shown}", field::label(name, field))
            })
            .collect();
        let changed = match desk.choose("Which one?", &options) {
            Ok(index) => index,
            Err(Stopped::Escape) => continue,
            Err(stopped) => return Err(stopped),
        };
        let now = values[changed].clone();
        match one(desk, form, fields[changed], now.as_ref(), true, can_detach)? {
            Step::Value(value) => values[changed] = value,
            Step::Back => {}
            Step::Out(asked) => return Ok(asked),
        }
    }
}

/// What came of asking for a field.
enum Step {
    Value(Option<Value>),
    Back,
    Out(Asked),
}

fn one(
    desk: &mut impl Desk,
    form: &Form,
    (name, field): (&str, &Field),
    now: Option<&Value>,
    is_first: bool,
    can_detach: bool,
) -> Result<Step, Stopped> {
    let required = form.is_required(name);
    loop {
        match desk.field(name, field, required, now) {
            Ok(value) => return Ok(Step::Value(value)),
            Err(Stopped::Escape) => match escape_menu(desk, can_detach, !is_first)? {
                Way::GoOn => {}
                Way::Back => return Ok(Step::Back),
                Way::Out(asked) => return Ok(Step::Out(asked)),
            },
            Err(Stopped::Interrupt) => match leave_menu(desk, can_detach) {
                Leave::GoOn => {}
                leave => return Ok(Step::Out(leave.into())),
            },
            Err(stopped) => return Err(stopped),
        }
    }
}

/// A form without fields asks for a yes.
fn confirm(desk: &mut impl Desk, can_detach: bool) -> Result<Asked, Stopped> {
    let options = ["Yes", "No: decline", "Close the question without an answer"];
    let options = options.map(str::to_owned);
    loop {
        return Ok(match desk.choose("Your answer", &options) {
            Ok(0) => Asked::Replied(Reply::Accept(Content::new())),
            Ok(1) => Asked::Replied(Reply::Decline),
            Ok(_) => Asked::Replied(Reply::Dismiss),
            Err(stopped) => match stopped_at_choice(desk, stopped, can_detach)? {
                Some(asked) => asked,
                None => continue,
            },
        });
    }
}

enum Review {
    Send,
    Change,
    Out(Asked),
}

fn review(desk: &mut impl Desk, can_detach: bool) -> Result<Review, Stopped> {
    let options = [
        "Yes, send it",
        "No, change something",
        "Decline the question",
    ];
    let options = options.map(str::to_owned);
    loop {
        return Ok(match desk.choose("Send this answer?", &options) {
            Ok(0) => Review::Send,
            Ok(1) => Review::Change,
            Ok(_) => Review::Out(Asked::Replied(Reply::Decline)),
            Err(stopped) => match stopped_at_choice(desk, stopped, can_detach)? {
                Some(asked) => Review::Out(asked),
                None => continue,
            },
        });
    }
}
