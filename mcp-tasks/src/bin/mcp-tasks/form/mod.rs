//! Puts a question to a person: a form field by field, or a URL.
//!
//! What is typed is judged at once, by the rules that the server will hold it to.
//! At any moment the person may say no to the whole question, close it, or leave
//! it to others.

pub(crate) mod field;
mod lines;
mod rich;
#[cfg(test)]
mod tests;

use std::io;

use mcp_tasks::client::{Answer, Question, QuestionKind};
use mcp_tasks::protocol::{Content, Field, Form};
use serde_json::Value;

use crate::screen::{Look, Screen};
pub(crate) use lines::Lines;
pub(crate) use rich::Rich;

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

/// Shows a question and has it answered.
pub(crate) fn ask(
    desk: &mut impl Desk,
    screen: Screen,
    question: &Question,
    refusal: Option<&str>,
    can_detach: bool,
) -> Asked {
    let asked = introduce(screen, question, refusal, desk.ways_out())
        .map_err(Stopped::Broken)
        .and_then(|()| match &question.kind {
            QuestionKind::Form { form, .. } => fill_in(desk, form, can_detach),
            QuestionKind::Url { url, .. } => open_url(desk, screen, url, can_detach),
            // Nothing else is declared.
            _ => Ok(Asked::Replied(Reply::Dismiss)),
        });
    asked.unwrap_or_else(|stopped| match stopped {
        Stopped::Reply(reply) => Asked::Replied(reply),
        Stopped::Broken(error) => Asked::Broken(error.to_string()),
        Stopped::Escape => Asked::LeftOpen,
        Stopped::Interrupt => leave_now(can_detach),
    })
}

fn introduce(
    screen: Screen,
    question: &Question,
    refusal: Option<&str>,
    ways_out: &str,
) -> io::Result<()> {
    screen.line("")?;
    if let Some(refusal) = refusal {
        let words = format!("The server does not take this answer: {refusal}");
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

fn fill_in(desk: &mut impl Desk, form: &Form, can_detach: bool) -> Result<Asked, Stopped> {
    let fields: Vec<(&str, &Field)> = form.fields().collect();
    if fields.is_empty() {
        return confirm(desk, can_detach);
    }
    let mut values: Vec<Option<Value>> = vec![None; fields.len()];
    let mut at = 0;
    while at < fields.len() {
        let is_first = at == 0;
        match one(desk, form, fields[at], None, is_first, can_detach)? {
            Step::Value(value) => values[at] = value,
            Step::Back if at > 0 => {
                at -= 1;
                continue;
            }
            Step::Back => continue,
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

impl From<Leave> for Asked {
    fn from(leave: Leave) -> Self {
        match leave {
            Leave::GoOn => Self::LeftOpen,
            Leave::Detach => Self::Detach,
            Leave::Cancel => Self::CancelTask,
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

fn open_url(
    desk: &mut impl Desk,
    screen: Screen,
    url: &str,
    can_detach: bool,
) -> Result<Asked, Stopped> {
    // Nothing is left out of it: where it leads is for the person to judge.
    screen.prose(2, Look::Plain, url).map_err(Stopped::Broken)?;
    screen.line("").map_err(Stopped::Broken)?;
    let options = [
        "I open it, or have opened it",
        "Decline",
        "Close the question without an answer",
    ];
    let options = options.map(str::to_owned);
    loop {
        return Ok(match desk.choose("Open this address?", &options) {
            Ok(0) => Asked::Replied(Reply::Consent),
            Ok(1) => Asked::Replied(Reply::Decline),
            Ok(_) => Asked::Replied(Reply::Dismiss),
            Err(stopped) => match stopped_at_choice(desk, stopped, can_detach)? {
                Some(asked) => asked,
                None => continue,
            },
        });
    }
}

/// Where a choice was to be made and something else was wanted; `None` to ask
/// again.
fn stopped_at_choice(
    desk: &mut impl Desk,
    stopped: Stopped,
    can_detach: bool,
) -> Result<Option<Asked>, Stopped> {
    match stopped {
        Stopped::Escape => Ok(match escape_menu(desk, can_detach, false)? {
            Way::Out(asked) => Some(asked),
            Way::GoOn | Way::Back => None,
        }),
        Stopped::Interrupt => Ok(match leave_menu(desk, can_detach) {
            Leave::GoOn => None,
            leave => Some(leave.into()),
        }),
        stopped => Err(stopped),
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

enum Way {
    GoOn,
    Back,
    Out(Asked),
}

fn escape_menu(desk: &mut impl Desk, can_detach: bool, has_back: bool) -> Result<Way, Stopped> {
    let mut ways = vec![("Go on answering", Way::GoOn)];
    if has_back {
        ways.push(("Back to the field before", Way::Back));
    }
    let replied = |reply| Way::Out(Asked::Replied(reply));
    ways.push(("Decline: say no to the question", replied(Reply::Decline)));
    ways.push((
        "Dismiss: close it without an answer",
        replied(Reply::Dismiss),
    ));
    if can_detach {
        ways.push(("Leave it open for somebody else", Way::Out(Asked::LeftOpen)));
        ways.push(("Detach: come back to it later", Way::Out(Asked::Detach)));
    }
    let options: Vec<_> = ways.iter().map(|(words, _)| (*words).to_owned()).collect();
    match desk.choose("What shall become of the question?", &options) {
        Ok(index) => Ok(ways.swap_remove(index).1),
        Err(Stopped::Escape) => Ok(Way::GoOn),
        Err(Stopped::Interrupt) => Ok(Way::Out(leave_now(can_detach))),
        Err(stopped) => Err(stopped),
    }
}

/// What Ctrl-C in a menu means.
fn leave_now(can_detach: bool) -> Asked {
    if can_detach {
        Asked::Detach
    } else {
        Asked::CancelTask
    }
}

/// What is to become of a call whose person has pressed Ctrl-C.
pub(crate) fn leave_menu(desk: &mut impl Desk, can_detach: bool) -> Leave {
    let mut ways = vec![("Go on", Leave::GoOn)];
    if can_detach {
        ways.push(("Detach: the task goes on", Leave::Detach));
        ways.push(("Cancel the task", Leave::Cancel));
    } else {
        ways.push(("Cancel the call", Leave::Cancel));
    }
    let options: Vec<_> = ways.iter().map(|(words, _)| (*words).to_owned()).collect();
    match desk.choose("Interrupted. What now?", &options) {
        Ok(index) => ways[index].1,
        Err(Stopped::Escape) => Leave::GoOn,
        // Again, or there is nobody to ask any more.
        Err(_) if can_detach => Leave::Detach,
        Err(_) => Leave::Cancel,
    }
}
