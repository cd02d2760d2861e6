//! What drives a call: one task of the runtime's, which waits for the server, for
//! answers and for the handle at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::asking::{Asking, Given};
use super::{Command, Outcome};
use crate::client::answer::AnyAnswers;
use crate::client::book::Page;
use crate::client::{CallError, CallState, ClientError, Inner};

pub(super) struct Driver {
    pub(super) inner: Arc<Inner>,
    pub(super) tool: Option<Arc<str>>,
    pub(super) asking: Asking,
    pub(super) page: Option<Page>,
    state: watch::Sender<CallState>,
    commands: mpsc::UnboundedReceiver<Command>,
    detached: Arc<AtomicBool>,
    deadline: Option<Deadline>,
}

#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    after: Duration,
}

/// What happens besides what the server says.
pub(super) enum Event {
    Command(Command),
    Given(Given),
    /// The handle was dropped.
    Dropped,
    /// Time is up.
    Late,
}

impl Driver {
    pub(super) fn new(
        inner: Arc<Inner>,
        tool: Option<Arc<str>>,
        answers: Option<Arc<dyn AnyAnswers>>,
        deadline: Option<Duration>,
        state: watch::Sender<CallState>,
        commands: mpsc::UnboundedReceiver<Command>,
        detached: Arc<AtomicBool>,
    ) -> Self {
        // A deadline that no clock reaches is none.
        let deadline = deadline.and_then(|after| {
            let at = Instant::now().checked_add(after)?;
            Some(Deadline { at, after })
        });
        Self {
            inner,
            tool,
            asking: Asking::new(answers),
            page: None,
            state,
            commands,
            detached,
            deadline,
        }
    }

    /// The next event. Cancel-safe.
    pub(super) async fn event(&mut self) -> Event {
        let deadline = self.deadline;
        let late = async move {
            match deadline {
                Some(deadline) => sleep_until(deadline.at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            command = self.commands.recv() => command.map_or(Event::Dropped, Event::Command),
            () = late => Event::Late,
            given = self.asking.next() => Event::Given(given),
        }
    }

    pub(super) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Time is up.
    pub(super) fn late(&self) -> CallError {
        CallError::Deadline {
            id: self.state.borrow().id.clone(),
            after: self
                .deadline
                .map_or(Duration::ZERO, |deadline| deadline.after),
        }
    }

    pub(super) fn lost(&self, error: ClientError) -> CallError {
        CallError::Lost {
            id: self.state.borrow().id.clone(),
            error,
        }
    }

    /// Shows a new state to the handle, with the questions that are open.
    pub(super) fn show(&self, change: impl FnOnce(&mut CallState)) {
        let questions = self.asking.questions();
        self.state.send_if_modified(|state| {
            let before = state.clone();
            change(state);
            state.questions = questions;
            differs(&before, state)
        });
    }

    /// Waits, unless something ends the call first.
    pub(super) async fn pause(&mut self, pause: Duration) -> Option<Outcome> {
        let until = Instant::now() + pause;
        loop {
            tokio::select! {
                () = sleep_until(until) => return None,
                event = self.event() => {
                    if let Some(outcome) = self.ended_by(event) {
                        return Some(outcome);
                    }
                }
            }
        }
    }

    /// What ends a call that is no task, of which the server need not be told in
    /// words: that the request is dropped tells it.
    pub(super) fn ended_by(&mut self, event: Event) -> Option<Outcome> {
        match event {
            Event::Command(Command::Cancel { done }) => {
                self.asking.fall_silent();
                self.show(|_| {});
                // Whoever asked may have gone.
                let _ = done.send(Ok(()));
                Some(Err(CallError::Cancelled { message: None }))
            }
            Event::Command(Command::Answer { key, done, .. }) => {
                let _ = done.send(Err(CallError::NotOpen(key)));
                None
            }
            Event::Dropped => Some(Err(CallError::Ended)),
            Event::Late => {
                self.asking.fall_silent();
                self.show(|_| {});
                Some(Err(self.late()))
            }
            Event::Given(_) => None,
        }
    }
}

/// Whether anybody would want to know.
fn differs(before: &CallState, after: &CallState) -> bool {
    let keys = |state: &CallState| -> Vec<Arc<str>> {
        let questions = state.questions.iter();
        questions
            .map(|question| Arc::clone(&question.key))
            .collect()
    };
    let rest = |state: &CallState| {
        (
            state.id.clone(),
            state.status,
            state.message.clone(),
            state.progress,
            state.created_at.clone(),
            state.ttl,
            state.poll_interval,
            state.trouble.clone(),
        )
    };
    rest(before) != rest(after) || keys(before) != keys(after)
}
