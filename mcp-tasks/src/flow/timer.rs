//! Durable timers.

use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use super::bind::{InTask, Keyed, awaited_only_in_tasks, rename};
use super::request::{Kind, Request, TimerDue};
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, Site};
use crate::task::{InputKey, Timestamp, millis};

/// Waits for `duration`, counted from when the function gets here.
///
/// The task is `working` meanwhile. With a durable store the timer survives
/// restarts: what came due while no process ran goes off at once. If a process
/// ends before the timer is recorded, the time is counted from what was recorded
/// last before it.
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
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site) -> Sleep<Bound> {
        Sleep {
            due: self.0.due,
            state: Bound::new(flow, site),
        }
    }
}

awaited_only_in_tasks! {
    <> Sleep<S> => ();
}

#[diagnostic::do_not_recommend]
impl IntoFuture for Sleep<Bound> {
    type Output = ();
    type IntoFuture = Sleeping;

    fn into_future(self) -> Sleeping {
        let Bound {
            flow, key, place, ..
        } = self.state;
        Sleeping {
            place,
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

/// Sets a timer under a key.
pub(super) fn set_timer(
    flow: &Flow,
    key: &InputKey,
    place: &'static Location<'static>,
    due: TimerDue,
) {
    if flow.open(key, place, Kind::Timer) {
        let key = key.clone();
        flow.request(Request::Timer { key, due });
    }
}

/// The future of a [`Sleep`].
pub struct Sleeping {
    place: &'static Location<'static>,
    flow: Flow,
    key: InputKey,
    /// Until the timer is set.
    unset: Option<TimerDue>,
}

impl Sleeping {
    /// A timer that is set when it is first polled.
    pub(super) fn new(
        flow: Flow,
        key: InputKey,
        place: &'static Location<'static>,
        duration: Duration,
    ) -> Self {
        Self {
            place,
            flow,
            key,
            unset: Some(TimerDue::After(duration)),
        }
    }

    /// Stops waiting: what is set is withdrawn.
    pub(super) fn close(&mut self) {
        if self.unset.is_none() {
            self.flow.close(&self.key);
        }
    }
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if let Some(mut due) = self.unset.take() {
            if let TimerDue::After(duration) = due
                && self.flow.is_replaying()
            {
                // It would have been set then, had the process lived on.
                due = TimerDue::At(self.flow.now().plus_millis(millis(duration)));
            }
            set_timer(&self.flow, &self.key, self.place, due);
        }
        match self.flow.take(&self.key) {
            Some(_) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.close();
    }
}
