//! A person who is asked something while everything else goes on.
//!
//! Reading from a terminal blocks, so it has a thread of its own, which is not
//! waited for: a question that is taken back leaves it where it is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::event::{self, DisableBracketedPaste};
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType};
use crossterm::{cursor, execute, terminal};
use mcp_tasks::client::Question;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::form::{self, Asked, Desk, Leave, Lines, Refusal, Rich};
use crate::screen::{Screen, is_dumb};

/// How long it may take until whoever types has been interrupted.
const INTERRUPTED_WITHIN: Duration = Duration::from_millis(300);

/// As good as no time: in none at all it is not looked for keys.
pub(crate) const AT_ONCE: Duration = Duration::from_millis(1);

/// What the person is asked.
pub(crate) enum Matter {
    /// A question of the task's.
    Question {
        question: Box<Question>,
        /// The answer before, if it was not taken.
        refusal: Option<Refusal>,
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
    over: Arc<AtomicBool>,
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
        let over = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&over);
        thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || {
                let answer = if is_dumb() {
                    put(Lines::here(), &matter, can_detach, &watched)
                } else {
                    forget_typed();
                    put(
                        Rich::new(Arc::clone(&watched)),
                        &matter,
                        can_detach,
                        &watched,
                    )
                };
                // Nobody may want to know any more.
                drop(send.send(answer));
            })?;
        Ok(Self {
            key,
            said,
            over,
            tell_at: None,
        })
    }

    /// The answer is not needed any more; the person is told so at that time, if
    /// still there.
    pub(crate) fn is_over(&mut self, tell_at: Instant) {
        self.over.store(true, Ordering::Relaxed);
        self.tell_at = Some(tell_at);
    }

    /// Ends it: nobody waits for the answer any more.
    pub(crate) async fn end(mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Somebody who types is interrupted, before anything else is shown where they
        // type; somebody who chooses is left where they are.
        let said = timeout(INTERRUPTED_WITHIN, &mut self.said).await;
        if said.is_err() {
            restore_terminal();
        }
    }

    /// Whether the answer is not needed any more.
    pub(crate) fn is_stale(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

fn put(mut desk: impl Desk, matter: &Matter, can_detach: bool, over: &AtomicBool) -> Said {
    match matter {
        Matter::Question { question, refusal } => Said::Asked(form::ask(
            desk,
            Screen::stderr(),
            question,
            refusal.as_ref(),
            can_detach,
            over,
        )),
        Matter::Leaving => Said::Leaving(form::leave_menu(&mut desk, can_detach)),
    }
}

/// Forgets the keys that were pressed before there was anything to answer: they
/// cannot have been meant for it.
fn forget_typed() {
    let forget = || -> io::Result<()> {
        terminal::enable_raw_mode()?;
        while event::poll(AT_ONCE)? {
            event::read()?;
        }
        terminal::disable_raw_mode()
    };
    // If that is not possible, they are taken for answers.
    drop(forget());
}

/// Leaves the terminal as it was, for a prompt that is still open.
pub(crate) fn restore_terminal() {
    // What does not work now will not work later either.
    if is_dumb() {
        drop(Screen::stderr().line(""));
        return;
    }
    drop(terminal::disable_raw_mode());
    drop(execute!(io::stderr(), DisableBracketedPaste, cursor::Show));
    drop(below_prompt());
    drop(Screen::stderr().line(""));
}

/// Goes to the line below that of the cursor, where nothing is left of a prompt.
pub(crate) fn below_prompt() -> io::Result<()> {
    let rest = Clear(ClearType::FromCursorDown);
    execute!(io::stderr(), Print("\r\n"), rest)
}
