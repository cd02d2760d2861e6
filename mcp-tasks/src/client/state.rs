//! What is known of a call while it is under way.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::watch;

use super::Question;
use crate::protocol::TaskStatus;

/// How a call gets on, as the server last said it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallState {
    /// The task's id, once the call is a task.
    pub id: Option<Arc<str>>,
    /// The task's status; `Working` while a call that is no task runs.
    pub status: TaskStatus,
    /// What it is doing, or why it ended as it did.
    pub message: Option<String>,
    /// How far it is, if the server says so.
    pub progress: Option<Progress>,
    /// What is open, less what has been answered here.
    pub questions: Vec<Question>,
    /// When the task was created, in ISO 8601.
    pub created_at: Option<String>,
    /// How long the task is kept from its creation on; `None` for no limit, or
    /// for no task.
    pub ttl: Option<Duration>,
    /// How often the server wants to be asked.
    pub poll_interval: Duration,
    /// Why nothing is heard of the server right now. It is tried again.
    pub trouble: Option<String>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is done.
    pub done: f64,
    /// Out of what, if that is known.
    pub total: Option<f64>,
}

impl CallState {
    /// A call that has just been made.
    pub(super) fn new() -> Self {
        Self {
            id: None,
            status: TaskStatus::Working,
            message: None,
            progress: None,
            questions: Vec::new(),
            created_at: None,
            ttl: None,
            poll_interval: super::call::DEFAULT_INTERVAL,
            trouble: None,
        }
    }
}

/// The states of a call. One that is replaced before it is looked at is passed
/// over: what comes is the newest.
///
/// They end with the call. A [`Stream`], for those who have its adapters; else
/// [`next`](Self::next) is all there is to it.
pub struct States {
    /// The wait for the next state; gives the receiver back.
    wait: Pin<Box<dyn Future<Output = Step> + Send + Sync>>,
    ended: bool,
}

type Step = (watch::Receiver<CallState>, Option<CallState>);

async fn step(mut states: watch::Receiver<CallState>) -> Step {
    let state = match states.changed().await {
        Ok(()) => Some(states.borrow_and_update().clone()),
        Err(_) => None,
    };
    (states, state)
}

impl States {
    /// The state now, then each that it changes to.
    pub(super) fn new(mut states: watch::Receiver<CallState>) -> Self {
        states.mark_changed();
        Self {
            wait: Box::pin(step(states)),
            ended: false,
        }
    }

    /// The next state; `None` once the call has ended.
    ///
    /// # Cancellation
    ///
    /// Safe: no state is lost that is still the newest.
    pub async fn next(&mut self) -> Option<CallState> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for States {
    type Item = CallState;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<CallState>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let Poll::Ready((states, state)) = self.wait.as_mut().poll(context) else {
            return Poll::Pending;
        };
        self.ended = state.is_none();
        self.wait = Box::pin(step(states));
        Poll::Ready(state)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
