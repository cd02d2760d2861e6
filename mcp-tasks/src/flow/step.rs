//! Steps: what a function does to the world outside, done once.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use serde_json::value::RawValue;

use super::bind::{Awaited, Unawaited, rename};
use super::context::{Outcome, Request};
use super::recorded::{StepFailure, StepOutcome, StepResult, Sure, read, record};
use super::{Bind, BindHere, BindLazy, Bound, DurableFuture, Flow, NotInTask, Site};
use crate::task::InputKey;

/// Runs `future` once and records its result.
///
/// The future gives a `Result`; awaiting the step gives the recorded value, or
/// a [`StepError`](super::StepError) with the recorded words of the error. The argument is not
/// even evaluated when a result is recorded already. The step's key is the name
/// of the variable that the result is bound to, else the function it calls.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// async fn count_lines(path: &str) -> std::io::Result<usize> {
///     Ok(tokio::fs::read_to_string(path).await?.lines().count())
/// }
///
/// #[mcp_task]
/// async fn measure(path: String) -> Result<String, ToolError> {
///     let lines = step(count_lines(&path)).await?;
///     Ok(format!("{lines} lines"))
/// }
/// ```
///
/// # Errors
///
/// [`StepError`](super::StepError) if the future gave an error; it is recorded too, and comes
/// again after a restart.
///
/// # Durability
///
/// At least once until the result is recorded, exactly once after. The result
/// is recorded before the function sees it.
///
/// # Cancellation
///
/// Dropping a step drops its future; nothing is recorded.
pub fn step<F: StepFuture<Output = O>, O>(future: F) -> Step<F, O, NotInTask> {
    Step {
        future,
        poll: F::poll,
        state: NotInTask::NEW,
    }
}

/// Runs a future that cannot fail once and records its value.
///
/// See [`step`].
pub fn step_value<F: StepFuture<Output = O>, O>(future: F) -> StepValue<F, O, NotInTask> {
    StepValue {
        future,
        poll: F::poll,
        state: NotInTask::NEW,
    }
}

/// What a step takes: a future.
#[diagnostic::on_unimplemented(
    message = "a step runs a future, and `{Self}` is none",
    label = "not a future",
    note = "call an `async fn` in it, or write `step(async {{ .. }})`"
)]
pub trait StepFuture: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future> StepFuture for F {}

/// A step, made by [`step`].
#[must_use = "a step only runs when it is awaited"]
pub struct Step<F, O, S> {
    future: F,
    poll: PollFn<F, O>,
    #[allow(dead_code, reason = "says in the type whether it is bound")]
    state: S,
}

/// A step that cannot fail, made by [`step_value`].
#[must_use = "a step only runs when it is awaited"]
pub struct StepValue<F, O, S> {
    future: F,
    poll: PollFn<F, O>,
    #[allow(dead_code, reason = "says in the type whether it is bound")]
    state: S,
}

/// How a future is polled: kept, so that only [`step`] asks for a future, and
/// what is none is one error.
type PollFn<F, O> = fn(Pin<&mut F>, &mut Context<'_>) -> Poll<O>;

/// One of our two kinds of steps.
pub trait AnyStep {
    /// The future to run.
    type Future;

    /// What it gives.
    type Output;

    /// The same, marked with the kind of step.
    type Outcome;

    /// The future, and how it is polled.
    fn into_inner(self) -> (Self::Future, PollFn<Self::Future, Self::Output>);

    /// Marks what the future gave.
    fn outcome(output: Self::Output) -> Self::Outcome;
}

impl<F, O> AnyStep for Step<F, O, NotInTask> {
    type Future = F;
    type Output = O;
    type Outcome = O;

    fn into_inner(self) -> (F, PollFn<F, O>) {
        (self.future, self.poll)
    }

    fn outcome(output: O) -> O {
        output
    }
}

impl<F, O> AnyStep for StepValue<F, O, NotInTask> {
    type Future = F;
    type Output = O;
    type Outcome = Sure<O>;

    fn into_inner(self) -> (F, PollFn<F, O>) {
        (self.future, self.poll)
    }

    fn outcome(output: O) -> Sure<O> {
        Sure(output)
    }
}

/// What a step gave.
pub struct Ran<O>(O);

/// A step that is running.
pub struct Run<S: AnyStep> {
    future: Pin<Box<S::Future>>,
    poll: PollFn<S::Future, S::Output>,
}

impl<S: AnyStep> Future for Run<S> {
    type Output = Ran<S::Outcome>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = self.poll;
        poll(self.future.as_mut(), cx).map(|output| Ran(S::outcome(output)))
    }
}

impl<S: AnyStep> Bind<S> {
    /// Runs the step. Generated code only.
    pub fn evaluated(self) -> Run<S> {
        let (future, poll) = self.0.into_inner();
        Run {
            future: Box::pin(future),
            poll,
        }
    }
}

impl<F, O> BindLazy<F>
where
    F: Future<Output = Ran<O>>,
{
    /// Binds the step to the running task. Generated code only.
    // The output is a parameter, not `O::Output`: so that what is wrong with
    // `O` is said of it, and not of this method.
    pub fn bind<T>(self, flow: &Flow, site: Site) -> BoundStep<F, O, T>
    where
        O: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
    {
        BoundStep {
            future: self.0,
            state: Bound::new(flow, site),
            record: record::<O>,
            read: read::<O>,
        }
    }
}

impl<M, S> BindHere<M>
where
    M: FnOnce() -> S,
    S: AnyStep,
{
    /// Binds the step to the running task. Generated code only.
    pub fn bind<T>(self, flow: &Flow, site: Site) -> BoundStep<Run<S>, S::Outcome, T>
    where
        S::Outcome: StepOutcome<Output = T, Value: StepResult, Error: StepFailure>,
    {
        BindLazy(Bind((self.0)()).evaluated()).bind(flow, site)
    }
}

/// A step that is bound to the running task and has not started.
#[must_use = "a step only runs when it is awaited"]
pub struct BoundStep<F, O, T> {
    future: F,
    state: Bound,
    record: Record<O>,
    read: Read<T>,
}

/// Puts what a step gave into a form that can be recorded.
type Record<O> = fn(O) -> serde_json::Result<Arc<RawValue>>;

/// Reads what was recorded of the step of this key.
type Read<T> = fn(&RawValue, &InputKey) -> serde_json::Result<T>;

impl<F, O, T> BoundStep<F, O, T> {
    /// Names the step; see [`Ask::key`](super::Ask::key).
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        rename(&mut self.state, key.as_ref());
        self
    }
}

impl<F, O, T> Unawaited<BoundStep<F, O, T>> {
    /// Says that the step is not awaited. Generated code only.
    pub fn finished(self) -> T
    where
        BoundStep<F, O, T>: Awaited,
    {
        unreachable!("no step can be used without being awaited")
    }
}

impl<F: Future<Output = Ran<O>>, O, T> IntoFuture for BoundStep<F, O, T> {
    type Output = T;
    type IntoFuture = Stepping<F, O, T>;

    fn into_future(self) -> Stepping<F, O, T> {
        Stepping {
            function: self.state.site.function,
            flow: self.state.flow,
            key: self.state.key,
            stage: Stage::New,
            future: Some(Box::pin(self.future)),
            record: self.record,
            read: self.read,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Ran<O>>, O, T> DurableFuture for BoundStep<F, O, T> {
    type Output = T;
    type State = Bound;
    type Future = Stepping<F, O, T>;

    fn into_durable(self) -> Stepping<F, O, T> {
        self.into_future()
    }
}

/// The future of a step.
pub struct Stepping<F, O, T> {
    flow: Flow,
    key: InputKey,
    function: &'static str,
    stage: Stage,
    /// Until the step has ended.
    future: Option<Pin<Box<F>>>,
    record: Record<O>,
    read: Read<T>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Not polled yet.
    New,
    /// The journal may still hold a result.
    Open,
    Running,
    /// Ended, and waits to be recorded.
    Ended,
    Over,
}

impl<F: Future<Output = Ran<O>>, O, T> Future for Stepping<F, O, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if this.stage == Stage::New {
            this.flow.open(&this.key, None);
            this.stage = Stage::Open;
        }
        if let Some(Outcome::Step(recorded)) = this.flow.take(&this.key) {
            this.stage = Stage::Over;
            return match (this.read)(&recorded, &this.key) {
                Ok(output) => Poll::Ready(output),
                Err(error) => this.misuse("read back", &error),
            };
        }
        if this.stage == Stage::Open {
            if !this.flow.may_start_step() {
                return Poll::Pending;
            }
            this.stage = Stage::Running;
        }
        if this.stage == Stage::Running
            && let Some(future) = &mut this.future
        {
            let Ran(outcome) = ready!(future.as_mut().poll(cx));
            this.future = None;
            this.flow.step_ended();
            this.stage = Stage::Ended;
            match (this.record)(outcome) {
                Ok(outcome) => this.flow.request(Request::StepDone {
                    key: this.key.clone(),
                    function: this.function,
                    outcome,
                }),
                Err(error) => return this.misuse("recorded", &error),
            }
        }
        Poll::Pending
    }
}

impl<F, O, T> Stepping<F, O, T> {
    /// Ends the task: the author's type does not do what it promised.
    fn misuse(&self, verb: &str, error: &serde_json::Error) -> Poll<T> {
        self.flow.request(Request::Misuse(format!(
            "the result of the step `{}` cannot be {verb}: {error}",
            self.key
        )));
        Poll::Pending
    }
}

impl<F, O, T> Drop for Stepping<F, O, T> {
    fn drop(&mut self) {
        match self.stage {
            Stage::New | Stage::Over => {}
            Stage::Open => self.flow.close(&self.key, false),
            Stage::Running => {
                self.flow.step_ended();
                self.flow.close(&self.key, false);
            }
            Stage::Ended => self.flow.close(&self.key, true),
        }
    }
}
