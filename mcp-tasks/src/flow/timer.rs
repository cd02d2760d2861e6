//! Durable timers.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use super::bind::{InTask, Keyed, rename};
use super::context::{Request, TimerDue};
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, Site};
use crate::task::{InputKey, Timestamp};

/// Waits for `duration`, counted from when the timer is recorded.
///
/// The task is `working` meanwhile. With a durable store the timer survives
/// restarts: what came due while no process ran goes off at once.
///
/// # Cancellation
///
/// Dropping the future withdraws the timer.
pub fn sleep(duration: Duration) -> Sleep<NotInTask> {
    Sleep {
        due: TimerDue::After(duration),
        state: NotInTask::NEW,
    }
}

/// Waits until `time` on the clock of the store's host.
///
/// See [`sleep`].
pub fn sleep_until(time: SystemTime) -> Sleep<NotInTask> {
    Sleep {
        due: TimerDue::At(Timestamp::from(time)),
        state: NotInTask::NEW,
    }
}

/// A timer, made by [`sleep`] or [`sleep_until`].
#[must_use = "a timer is only set when it is awaited"]
pub struct Sleep<S> {
    due: TimerDue,
    state: S,
}

#[allow(
    private_bounds,
    reason = "who can be renamed is the crate's own affair"
)]
impl<S: Keyed> Sleep<S> {
    /// Names the timer; see [`Ask::key`](super::Ask::key).
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        rename(&mut self.state, key.as_ref());
        self
    }
}

impl Bind<Sleep<NotInTask>> {
    /// Binds the timer to the running task. Generated code only.
    pub fn bind(self, flow: &Flow, site: Site) -> Sleep<Bound> {
        Sleep {
            due: self.0.due,
            state: Bound::new(flow, site),
        }
    }
}

#[diagnostic::do_not_recommend]
impl IntoFuture for Sleep<Bound> {
    type Output = ();
    type IntoFuture = Sleeping;

    fn into_future(self) -> Sleeping {
        let Bound { flow, key, .. } = self.state;
        Sleeping {
            flow,
            key,
            unset: Some(self.due),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<S> DurableFuture for Sleep<S> {
    type Output = ();
    type State = S;
    type Future = Sleeping;

    fn into_durable(self) -> Sleeping
    where
        S: InTask,
    {
        let Self { due, state } = self;
        let state = state.into_bound();
        Sleep { due, state }.into_future()
    }
}

/// The future of a [`Sleep`].
pub struct Sleeping {
    flow: Flow,
    key: InputKey,
    /// Until the timer is set.
    unset: Option<TimerDue>,
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if let Some(due) = self.unset.take() {
            let set = Request::Timer {
                key: self.key.clone(),
                due,
            };
            self.flow.open(&self.key, Some(set));
        }
        match self.flow.take(&self.key) {
            Some(_) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        if self.unset.is_none() {
            self.flow.close(&self.key, true);
        }
    }
}
