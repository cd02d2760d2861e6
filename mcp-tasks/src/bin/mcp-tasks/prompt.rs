//! A person who is asked something while everything else goes on.
//!
//! Reading from a terminal blocks, so it has a thread of its own, which is not
//! waited for: a question that is taken back leaves it where it is.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, DisableBracketedPaste};
use crossterm::{cursor, execute, terminal};
use mcp_tasks::client::Question;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::form::{self, Asked, Desk, Leave, Lines, Rich};
use crate::screen::{Screen, is_dumb};

/// What the person is asked.
pub(crate) enum Matter {
    /// A question of the task's.
    Question {
        question: Box<Question>,
        /// Why the answer before was not taken.
        refusal: Option<String>,
    },
    /// What is to become of the call.
    Leaving,
}

/// What the person has said.
pub(crate) enum Said {
    Asked(Asked),
    Leaving(Leave),
}

/// A person being asked.
pub(crate) struct Prompt {
    /// The question's key; none if it is about leaving.
    pub(crate) key: Option<Arc<str>>,
    pub(crate) said: oneshot::Receiver<Said>,
    /// Whether the answer is not needed any more.
    pub(crate) is_stale: bool,
    /// When the person is told so.
    pub(crate) tell_at: Option<Instant>,
}

impl Prompt {
    /// Asks.
    pub(crate) fn start(matter: Matter, can_detach: bool) -> io::Result<Self> {
        let key = match &matter {
            Matter::Question { question, .. } => Some(Arc::clone(&question.key)),
            Matter::Leaving => None,
        };
        let (send, said) = oneshot::channel();
        thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || {
                let answer = if is_dumb() {
                    put(&mut Lines::here(), &matter, can_detach)
                } else {
                    forget_typed();
                    put(&mut Rich::new(), &matter, can_detach)
                };
                // Nobody may want to know any more.
                drop(send.send(answer));
            })?;
        Ok(Self {
            key,
            said,
            is_stale: false,
            tell_at: None,
        })
    }
}

fn put(desk: &mut impl Desk, matter: &Matter, can_detach: bool) -> Said {
    match matter {
        Matter::Question { question, refusal } => Said::Asked(form::ask(
            desk,
            Screen::stderr(),
            question,
            refusal.as_deref(),
            can_detach,
        )),
        Matter::Leaving => Said::Leaving(form::leave_menu(desk, can_detach)),
    }
}

/// Forgets the keys that were pressed before there was anything to answer: they
/// cannot have been meant for it.
fn forget_typed() {
    let forget = || -> io::Result<()> {
        terminal::enable_raw_mode()?;
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        terminal::disable_raw_mode()
    };
    // If that is not possible, they are taken for answers.
    drop(forget());
}

/// Leaves the terminal as it was, for a prompt that is still open.
pub(crate) fn restore_terminal() {
    if is_dumb() {
        return;
    }
    // What does not work now will not work later either.
    drop(terminal::disable_raw_mode());
    drop(execute!(io::stderr(), DisableBracketedPaste, cursor::Show));
    drop(Screen::stderr().line("\n"));
}
