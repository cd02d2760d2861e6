//! What there is to know while a task is followed: how often it is looked at, and
//! what is on its way to the server.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};

use super::listen::{Heard, listen};
use super::{back_off, pace};
use crate::client::link::Trouble;
use crate::client::wire::{self, TaskSeen};
use crate::client::{CallError, Inner, Question};

/// For how long a call that was dropped tries to tell the server.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(5);

pub(super) type Done = oneshot::Sender<Result<(), CallError>>;

/// A task that is being followed.
pub(super) struct Following {
    pub(super) id: Arc<str>,
    pub(super) works: JoinSet<Work>,
    pub(super) heard: mpsc::UnboundedReceiver<Heard>,
    pub(super) listener: AbortHandle,
    pub(super) is_listening: bool,
    /// What the server last said.
    pub(super) interval: Duration,
    pub(super) last_poll: Instant,
    pub(super) next_poll: Instant,
    /// Whether a poll is under way, and whether what it brings is older than what
    /// has been heard meanwhile.
    pub(super) is_polling: bool,
    pub(super) is_stale: bool,
    pub(super) failed: u32,
    /// When the task had changed that was shown last, if the server says. The clocks of
    /// a server need not agree, nor go forward only: what is polled counts whatever it
    /// says.
    pub(super) updated_at: Option<DateTime<FixedOffset>>,
    /// Answers and cancellations that are not acknowledged yet.
    pub(super) on_their_way: usize,
    /// Since when nothing is heard of the server.
    pub(super) silent_since: Option<Instant>,
}

/// What was done beside.
pub(super) enum Work {
    Polled(Result<Arc<RawValue>, Trouble>),
    Answered {
        question: Box<Question>,
        done: Option<Done>,
        sent: Result<(), Trouble>,
    },
    Cancelled {
        done: Done,
        sent: Result<(), Trouble>,
    },
}

impl Following {
    pub(super) fn new(id: Arc<str>, inner: &Arc<Inner>, next_poll: Instant) -> Self {
        let (told, heard) = mpsc::unbounded_channel();
        let listening = listen(Arc::downgrade(inner), Arc::clone(&id), told);
        Self {
            id,
            works: JoinSet::new(),
            heard,
            listener: tokio::spawn(listening).abort_handle(),
            is_listening: false,
            interval: pace::DEFAULT_INTERVAL,
            last_poll: Instant::now(),
            next_poll,
            is_polling: false,
            is_stale: false,
            failed: 0,
            updated_at: None,
            on_their_way: 0,
            silent_since: None,
        }
    }

    pub(super) fn poll(&mut self, inner: &Arc<Inner>) {
        self.is_polling = true;
        self.last_poll = Instant::now();
        let (inner, id) = (Arc::clone(inner), Arc::clone(&self.id));
        self.works.spawn(async move {
            let params = json!({ "taskId": id });
            Work::Polled(inner.request_once("tasks/get", &params).await)
        });
    }

    /// Whether what the server has told is no older than what was shown last: what is
    /// told and what is polled come on ways of their own.
    pub(super) fn is_news(&self, seen: &TaskSeen) -> bool {
        let is_older = matches!(
            (seen.updated_at, self.updated_at),
            (Some(seen), Some(shown)) if seen < shown
        );
        !is_older || seen.status.is_terminal()
    }

    /// Looks again as soon as the server allows, however much it tells by itself. One
    /// that could not be reached is not bothered sooner for it.
    pub(super) fn look_soon(&mut self) {
        if self.failed == 0 {
            let soon = self.last_poll + pace::interval(self.interval, false);
            self.next_poll = self.next_poll.min(soon);
        }
    }

    /// When to look again, if all is well.
    pub(super) fn schedule(&mut self) {
        self.next_poll = self.last_poll + pace::interval(self.interval, self.is_listening);
    }

    pub(super) fn cancel(&mut self, inner: &Arc<Inner>, done: Done) {
        self.on_their_way += 1;
        let (inner, id) = (Arc::clone(inner), Arc::clone(&self.id));
        self.works.spawn(async move {
            let params = json!({ "taskId": id });
            let sent = persist(&inner, "tasks/cancel", &params).await;
            Work::Cancelled { done, sent }
        });
    }

    /// Waits for what is on its way: that the task has ended may be known before
    /// the reply to what ended it.
    pub(super) async fn finish(&mut self) {
        let all = async {
            while self.on_their_way > 0 {
                match self.works.join_next().await {
                    Some(Ok(Work::Answered { done, sent, .. })) => {
                        self.on_their_way -= 1;
                        tell(done, "tasks/update", sent);
                    }
                    Some(Ok(Work::Cancelled { done, sent })) => {
                        self.on_their_way -= 1;
                        tell(Some(done), "tasks/cancel", sent);
                    }
                    Some(_) => {}
                    None => return,
                }
            }
        };
        // What is not acknowledged by then is in the book, if there is one.
        if timeout(LAST_WORDS, all).await.is_err() {
            tracing::warn!("the server did not take note of everything within {LAST_WORDS:?}");
        }
    }
}

/// Tells whoever asked for it, who may have gone, what became of a request.
pub(super) fn tell(done: Option<Done>, method: &str, sent: Result<(), Trouble>) {
    let Some(done) = done else {
        return;
    };
    let _ = done.send(sent.map_err(|trouble| trouble.into_error(method).into()));
}

impl Drop for Following {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Sends a request that does no harm twice, as long as there is hope.
pub(super) async fn persist(
    inner: &Inner,
    method: &'static str,
    params: &impl serde::Serialize,
) -> Result<(), Trouble> {
    let begun = Instant::now();
    let mut failed = 0;
    loop {
        let reply = inner.request_once(method, params).await;
        let trouble = match reply {
            Ok(reply) => {
                return wire::acknowledged(method, &reply).map_err(Trouble::Connect);
            }
            Err(trouble) => trouble,
        };
        failed += 1;
        let pause = trouble.wait().unwrap_or_else(|| back_off(failed));
        let is_hopeless = trouble.wait().is_none() && begun.elapsed() > inner.settings.patience;
        if !trouble.is_passing() || is_hopeless {
            return Err(trouble);
        }
        tokio::time::sleep(pause).await;
    }
}
