//! A step that belongs to a task, and what can be said about it.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::running::Stepping;
use super::{AnyStep, Evaluated};
use crate::flow::bind::{Awaited, Unawaited, rename};
use crate::flow::recorded::{
    StepFailure, StepOutcome, StepResult, Sure, read, read_typed, record, record_typed,
};
use crate::flow::{BindHere, BindLazy, Bound, DurableFuture, Flow, Site, StepError};
use crate::task::InputKey;

/// What to do with a step that must not run twice, when a process died while
/// it may have been running: see [`at_most_once`](BoundStep::at_most_once).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnAmbiguous<T> {
    /// The step fails, with a [`StepError`] that says that it is not known
    /// whether it ran ([`StepError::is_ambiguous`]).
    Fail,
    /// It runs again: for what does no harm twice, or can tell.
    RunAgain,
    /// It counts as having given this value.
    Skip(T),
}

impl<T> OnAmbiguous<T> {
    pub(super) fn map<U>(self, skipped: impl FnOnce(T) -> U) -> OnAmbiguous<U> {
        match self {
            Self::Fail => OnAmbiguous::Fail,
            Self::RunAgain => OnAmbiguous::RunAgain,
            Self::Skip(value) => OnAmbiguous::Skip(skipped(value)),
        }
    }
}

/// A step that is bound to the running task and has not started.
#[must_use = "a step only runs when it is awaited"]
pub struct BoundStep<F, O, T, M = Plain> {
    /// `None` if its result is recorded.
    pub(super) future: Option<F>,
    pub(super) state: Bound,
    pub(super) at_most_once: Option<OnAmbiguous<O>>,
    pub(super) record: Record<O>,
    pub(super) has_failed: fn(&O) -> bool,
    pub(super) read: Read<T>,
    mode: PhantomData<fn() -> M>,
}

/// A step of which nothing more has been said.
pub struct Plain(());

/// A step whose error is kept as what it is.
pub struct Typed(());

/// A step that must not run twice.
pub struct AtMostOnce(());

/// Puts what a step gave into a form that can be recorded.
pub(super) type Record<O> = fn(O) -> serde_json::Result<Arc<RawValue>>;

/// Reads what was recorded of the step of this key.
pub(super) type Read<T> = fn(&RawValue, &InputKey) -> serde_json::Result<T>;

impl<F, O> BindLazy<F>
where
    F: Future<Output: Evaluated<Outcome = O>>,
{
    /// Binds the step to the running task. Generated code only.
    #[track_caller]
    // The output is a parameter, not `O::Output`: so that what is wrong with
    // `O` is said of it, and not of this method.
    pub fn bind<T>(self, flow: &Flow, site: Site) -> BoundStep<F, O, T>
    where
        O: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
    {
        BoundStep::new(Bound::new(flow, site), Some(self.0))
    }
}

impl<M, S> BindHere<M>
where
    M: FnOnce() -> S,
    S: AnyStep,
{
    /// Binds the step to the running task. Generated code only.
    #[track_caller]
    pub fn bind<T>(self, flow: &Flow, site: Site) -> BoundStep<S::Run, S::Outcome, T>
    where
        S::Outcome: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
    {
        self.evaluate(Bound::new(flow, site))
    }

    /// The same, under a key that is known at run time only. Generated code
    /// only.
    #[track_caller]
    pub fn bind_keyed<T, K>(
        self,
        flow: &Flow,
        site: Site,
        key: &K,
    ) -> BoundStep<S::Run, S::Outcome, T>
    where
        S::Outcome: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
        K: AsRef<str> + ?Sized,
    {
        let mut state = Bound::new(flow, site);
        rename(&mut state, key.as_ref());
        self.evaluate(state)
    }

    /// Makes the call, unless its result is known.
    fn evaluate<T>(self, state: Bound) -> BoundStep<S::Run, S::Outcome, T>
    where
        S::Outcome: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
    {
        let future = if state.flow.has_result(&state.key) {
            None
        } else {
            let outer = state.flow.enter_step(Some(state.key.clone()));
            let step = (self.0)();
            state.flow.enter_step(outer);
            Some(step.run())
        };
        BoundStep::new(state, future)
    }
}

impl<F, O, T> BoundStep<F, O, T> {
    fn new(state: Bound, future: Option<F>) -> Self
    where
        O: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
    {
        Self {
            future,
            state,
            at_most_once: None,
            record: record::<O>,
            has_failed: O::has_failed,
            read: read::<O>,
            mode: PhantomData,
        }
    }
}

impl<F, O, T, M> BoundStep<F, O, T, M> {
    /// Names the step; see [`Ask::key`](crate::Ask::key).
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        rename(&mut self.state, key.as_ref());
        self
    }
}

impl<F, T, E> BoundStep<F, Result<T, E>, Result<T, StepError>> {
    /// Keeps the error as what it is: the step gives the future's own error,
    /// which is recorded as JSON like the value, and not its words alone.
    ///
    /// ```
    /// use mcp_tasks::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, thiserror::Error, Serialize, Deserialize)]
    /// enum Refused {
    ///     #[error("no room for {0} more")]
    ///     Full(u32),
    ///     #[error("closed")]
    ///     Closed,
    /// }
    ///
    /// async fn book(seats: u32) -> Result<u64, Refused> {
    ///     # if seats > 8 { return Err(Refused::Full(seats)) }
    ///     # if seats == 0 { return Err(Refused::Closed) }
    ///     # Ok(1)
    /// }
    ///
    /// #[mcp_task]
    /// async fn reserve(seats: u32) -> Result<String, ToolError> {
    ///     match step(book(seats)).typed().await {
    ///         Ok(booking) => Ok(format!("booked: {booking}")),
    ///         Err(Refused::Full(more)) => Ok(format!("{more} too many")),
    ///         Err(closed) => Err(closed.into()),
    ///     }
    /// }
    /// ```
    pub fn typed(self) -> BoundStep<F, Result<T, E>, Result<T, E>, Typed>
    where
        T: StepResult,
        E: StepResult,
    {
        BoundStep {
            future: self.future,
            state: self.state,
            at_most_once: None,
            record: record_typed::<T, E>,
            has_failed: self.has_failed,
            read: read_typed::<T, E>,
            mode: PhantomData,
        }
    }

    /// Makes sure that the step does not run a second time unless you say so.
    ///
    /// A step whose process dies before its result is recorded runs again: it
    /// is not known whether it ran. With this, that it is about to run is
    /// recorded first, and what happens in that one case is `on_ambiguous`. An
    /// attempt that is known to have failed is not such a case: with
    /// [`step_with`](crate::step_with) the next one follows.
    ///
    /// ```
    /// use mcp_tasks::prelude::*;
    /// # async fn charge(_: u32) -> std::io::Result<u64> { Ok(1) }
    ///
    /// #[mcp_task]
    /// async fn pay(cents: u32) -> Result<String, ToolError> {
    ///     match step(charge(cents)).at_most_once(OnAmbiguous::Fail).await {
    ///         Ok(receipt) => Ok(format!("receipt {receipt}")),
    ///         Err(error) if error.is_ambiguous() => {
    ///             ask_user::<()>("Was the card charged? Look, then confirm.").await?;
    ///             Ok("checked by hand".to_owned())
    ///         }
    ///         Err(error) => Err(error.into()),
    ///     }
    /// }
    /// ```
    ///
    /// # Durability
    ///
    /// Two commits in place of one: the intent, before the step starts, and
    /// its result.
    pub fn at_most_once(
        self,
        on_ambiguous: OnAmbiguous<T>,
    ) -> BoundStep<F, Result<T, E>, Result<T, StepError>, AtMostOnce> {
        BoundStep {
            future: self.future,
            state: self.state,
            at_most_once: Some(on_ambiguous.map(Ok)),
            record: self.record,
            has_failed: self.has_failed,
            read: self.read,
            mode: PhantomData,
        }
    }
}

/// What can be said of a step beside what was said already: these two cannot.
#[diagnostic::on_unimplemented(
    message = "`.typed()` and `.at_most_once(..)` do not go together",
    label = "remove one of the two",
    note = "that it is not known whether a step ran is a `StepError`, not an error of your own"
)]
pub trait Both {}

impl<F, T, E> BoundStep<F, Result<T, E>, Result<T, E>, Typed> {
    /// Not for a step whose error is kept as what it is.
    #[doc(hidden)]
    pub fn at_most_once(self, _: OnAmbiguous<T>) -> Self
    where
        Self: Both,
    {
        unreachable!("what is typed is not marked as well")
    }
}

impl<F, T, E> BoundStep<F, Result<T, E>, Result<T, StepError>, AtMostOnce> {
    /// Not for a step that must not run twice.
    #[doc(hidden)]
    pub fn typed(self) -> BoundStep<F, Result<T, E>, Result<T, E>, Typed>
    where
        Self: Both,
    {
        unreachable!("what is marked is not typed as well")
    }
}

/// What can fail.
#[diagnostic::on_unimplemented(
    message = "a step that must not run twice can fail: after a crash it may not be known whether it ran",
    label = "the future of this step cannot fail",
    note = "use `step(async {{ Ok::<_, ToolError>(..) }})` in place of `step_value(..)`: its error says so"
)]
pub trait Fallible {}

impl<F, T> BoundStep<F, Sure<T>, T> {
    /// Not for a step that cannot fail.
    #[doc(hidden)]
    pub fn at_most_once(self, _: OnAmbiguous<T>) -> Self
    where
        Sure<T>: Fallible,
    {
        unreachable!("what cannot fail is not marked")
    }
}

impl<F, O, T, M> Unawaited<BoundStep<F, O, T, M>> {
    /// Says that the step is not awaited. Generated code only.
    pub fn finished(self) -> T
    where
        BoundStep<F, O, T, M>: Awaited,
    {
        unreachable!("no step can be used without being awaited")
    }
}

impl<F, O, T, M> IntoFuture for BoundStep<F, O, T, M>
where
    F: Future<Output: Evaluated<Outcome = O>>,
{
    type Output = T;
    type IntoFuture = Stepping<F, O, T>;

    fn into_future(self) -> Stepping<F, O, T> {
        Stepping::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl<F, O, T, M> DurableFuture for BoundStep<F, O, T, M>
where
    F: Future<Output: Evaluated<Outcome = O>>,
{
    type Output = T;
    type State = Bound;
    type Future = Stepping<F, O, T>;

    fn into_durable(self) -> Stepping<F, O, T> {
        self.into_future()
    }
}
