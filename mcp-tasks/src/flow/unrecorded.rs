//! Futures that run again whenever their function does.

use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::bind::{Awaited, InTask, Keyed, Unawaited, awaited_only_in_tasks, rename};
use super::request::{Kind, Outcome};
use super::step::PollFn;
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, Site};
use crate::task::InputKey;

/// Awaits `future` without recording what it gives: it runs again on every
/// replay.
///
/// For what does no harm when it is done again, and whose value is too big to
/// record or cannot be written down: a connection, a lock, a page to look at.
/// Only that it has ended is recorded, and its turn among the other outcomes.
/// What the function does with the value must not depend on what may have
/// changed between two runs: a branch on it leads to other keys, and the task
/// is held. A [`step`](super::step) is the safe choice where the value decides.
///
/// Its key is the name of the variable that its value is bound to, else the
/// function it calls.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// #[mcp_task]
/// async fn measure(path: String) -> Result<String, ToolError> {
///     ask_user::<()>(format!("Read {path}?")).await?;
///     let text = unrecorded(tokio::fs::read_to_string(&path)).await?;
///     Ok(format!("{} bytes", text.len()))
/// }
/// ```
///
/// # Durability
///
/// None, but for its place in the order of events: on a replay, what was
/// recorded after its end is shown to the function only once it has ended
/// again.
///
/// # Cancellation
///
/// Dropping it drops the future.
pub fn unrecorded<F: UnrecordedFuture<Output = O>, O>(future: F) -> Unrecorded<F, O, NotInTask> {
    Unrecorded {
        future,
        poll: F::poll,
        state: NotInTask::NEW,
    }
}

/// What [`unrecorded`] takes: a future.
#[diagnostic::on_unimplemented(
    message = "`unrecorded` awaits a future, and `{Self}` is none",
    label = "not a future",
    note = "call an `async fn` in it, or write `unrecorded(async {{ .. }})`"
)]
pub trait UnrecordedFuture: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future> UnrecordedFuture for F {}

/// A future that runs again on every replay, made by [`unrecorded`].
#[must_use = "it only runs when it is awaited"]
pub struct Unrecorded<F, O, S> {
    future: F,
    poll: PollFn<F, O>,
    state: S,
}

#[allow(
    private_bounds,
    reason = "who can be renamed is the crate's own affair"
)]
impl<F, O, S: Keyed> Unrecorded<F, O, S> {
    /// Names the future; see [`Ask::key`](super::Ask::key).
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        rename(&mut self.state, key.as_ref());
        self
    }
}

impl<F, O> Bind<Unrecorded<F, O, NotInTask>> {
    /// Binds the future to the running task. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site) -> Unrecorded<F, O, Bound> {
        Unrecorded {
            future: self.0.future,
            poll: self.0.poll,
            state: Bound::new(flow, site),
        }
    }
}

impl<F, O> Unawaited<Unrecorded<F, O, Bound>> {
    /// Says that the future is not awaited. Generated code only.
    pub fn finished(self) -> O
    where
        Unrecorded<F, O, Bound>: Awaited,
    {
        unreachable!("nothing can be used without being awaited")
    }
}

awaited_only_in_tasks! {
    <F, O> Unrecorded<F, O, S> => O;
}

#[diagnostic::do_not_recommend]
impl<F, O> IntoFuture for Unrecorded<F, O, Bound> {
    type Output = O;
    type IntoFuture = RunningAgain<F, O>;

    fn into_future(self) -> RunningAgain<F, O> {
        RunningAgain {
            place: self.state.place,
            flow: self.state.flow,
            key: self.state.key,
            poll: self.poll,
            stage: Stage::New(Box::pin(self.future)),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F, O, S> DurableFuture for Unrecorded<F, O, S> {
    type Output = O;
    type State = S;
    type Future = RunningAgain<F, O>;

    fn into_durable(self) -> RunningAgain<F, O>
    where
        S: InTask,
    {
        let Self {
            future,
            poll,
            state,
        } = self;
        Unrecorded {
            future,
            poll,
            state: state.into_bound(),
        }
        .into_future()
    }
}

/// The future of an [`Unrecorded`].
pub struct RunningAgain<F, O> {
    place: &'static Location<'static>,
    flow: Flow,
    key: InputKey,
    poll: PollFn<F, O>,
    stage: Stage<F, O>,
}

enum Stage<F, O> {
    New(Pin<Box<F>>),
    Running(Pin<Box<F>>),
    /// Ended, and waits for its turn.
    Ended(O),
    Over,
}

// The future has a box of its own, and its value is not pinned.
impl<F, O> Unpin for RunningAgain<F, O> {}

impl<F, O> Future for RunningAgain<F, O> {
    type Output = O;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<O> {
        let this = &mut *self;
        this.stage = match std::mem::replace(&mut this.stage, Stage::Over) {
            Stage::New(future) if this.flow.open(&this.key, this.place, Kind::Unrecorded) => {
                this.flow.future_started();
                Stage::Running(future)
            }
            // The key is taken, and the task will be ended.
            Stage::New(_) => Stage::Over,
            stage => stage,
        };
        if let Stage::Running(future) = &mut this.stage {
            // What it draws by chance is its own, as in a step: when it is
            // polled is not recorded.
            let outer = this.flow.enter_step(Some(this.key.clone()));
            let polled = (this.poll)(future.as_mut(), cx);
            this.flow.enter_step(outer);
            let Poll::Ready(output) = polled else {
                return Poll::Pending;
            };
            this.stage = Stage::Ended(output);
            this.flow.future_ended();
            this.flow.ran(&this.key);
        }
        if matches!(this.stage, Stage::Ended(_))
            && let Some(Outcome::Ran) = this.flow.take(&this.key)
            && let Stage::Ended(output) = std::mem::replace(&mut this.stage, Stage::Over)
        {
            return Poll::Ready(output);
        }
        Poll::Pending
    }
}

impl<F, O> Drop for RunningAgain<F, O> {
    fn drop(&mut self) {
        match self.stage {
            Stage::New(_) | Stage::Over => {}
            Stage::Running(_) => {
                self.flow.future_ended();
                self.flow.close(&self.key);
            }
            Stage::Ended(_) => self.flow.close(&self.key),
        }
    }
}
