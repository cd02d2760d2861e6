//! Steps: what a function does to the world outside, done once.

mod bound;
mod key;
mod retry;
mod running;

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

pub use self::bound::{BoundStep, OnAmbiguous};
pub use self::key::step_key;
use self::retry::{Rest, Retries};
pub use self::retry::{Retry, StepWith, step_with};
use super::bind::awaited_only_in_tasks;
use super::recorded::{StepOutcome, Sure};
use super::{Bind, NotInTask};

/// Runs `future` once and records its result.
///
/// The future gives a `Result`; awaiting the step gives the recorded value, or
/// a [`StepError`](super::StepError) with the recorded words of the error. The argument is not
/// even evaluated when a result is recorded already. The step's key is the name
/// of the variable that the result is bound to, else the function it calls, also
/// as all that an `async` block does: `step(async { plan(&text()).await })`.
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
/// again after a restart. With [`typed`](BoundStep::typed) the error is kept as
/// what it is.
///
/// # Durability
///
/// At least once until the result is recorded, exactly once after. The result
/// is recorded before the function sees it. What must not run twice even so
/// takes an idempotency key, [`step_key`], or says
/// [`at_most_once`](BoundStep::at_most_once).
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

awaited_only_in_tasks! {
    <F, O: StepOutcome> Step<F, O, S> => O::Output;
    <F, O> StepValue<F, O, S> => O;
    <M, F, O: StepOutcome> StepWith<M, F, O, S> => O::Output;
}

/// How a future is polled: kept, so that only [`step`] asks for a future, and
/// what is none is one error.
pub(super) type PollFn<F, O> = fn(Pin<&mut F>, &mut Context<'_>) -> Poll<O>;

/// One of our kinds of steps.
pub trait AnyStep {
    /// What an attempt gives, marked with the kind of step.
    type Outcome;

    /// What evaluating the step's call comes to.
    type Evaluated: Evaluated<Outcome = Self::Outcome>;

    /// The future of that.
    type Run: Future<Output = Self::Evaluated>;

    /// Takes the step apart.
    fn run(self) -> Self::Run;
}

/// A step whose call has been evaluated: it has run, or can be run.
pub trait Evaluated {
    /// What an attempt gives.
    type Outcome;

    /// Goes on with the attempt, or begins one.
    fn poll_attempt(&mut self, cx: &mut Context<'_>) -> Poll<Self::Outcome>;

    /// How long to rest after a failure of the attempt of this number; `None`
    /// if that was the last.
    fn rest_after(&self, attempt: u32) -> Option<Rest>;
}

impl<F, O> AnyStep for Step<F, O, NotInTask> {
    type Outcome = O;
    type Evaluated = Ran<O>;
    type Run = Run<F, O, O>;

    fn run(self) -> Run<F, O, O> {
        Run {
            future: Box::pin(self.future),
            poll: self.poll,
            outcome: |output| output,
        }
    }
}

impl<F, O> AnyStep for StepValue<F, O, NotInTask> {
    type Outcome = Sure<O>;
    type Evaluated = Ran<Sure<O>>;
    type Run = Run<F, O, Sure<O>>;

    fn run(self) -> Run<F, O, Sure<O>> {
        Run {
            future: Box::pin(self.future),
            poll: self.poll,
            outcome: Sure,
        }
    }
}

impl<M, F, O> AnyStep for StepWith<M, F, O, NotInTask> {
    type Outcome = O;
    type Evaluated = Retries<M, F, O>;
    type Run = Ready<Retries<M, F, O>>;

    fn run(self) -> Self::Run {
        ready(self.into_retries())
    }
}

/// A step that is running.
pub struct Run<F, O, E> {
    future: Pin<Box<F>>,
    poll: PollFn<F, O>,
    outcome: fn(O) -> E,
}

impl<F, O, E> Future for Run<F, O, E> {
    type Output = Ran<E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ran<E>> {
        let (poll, outcome) = (self.poll, self.outcome);
        poll(self.future.as_mut(), cx).map(|output| Ran(Some(outcome(output))))
    }
}

/// What a step gave that runs once.
pub struct Ran<O>(Option<O>);

impl<O> Evaluated for Ran<O> {
    type Outcome = O;

    fn poll_attempt(&mut self, _cx: &mut Context<'_>) -> Poll<O> {
        Poll::Ready(self.0.take().expect("it is polled until it is ready"))
    }

    fn rest_after(&self, _attempt: u32) -> Option<Rest> {
        None
    }
}

impl<S: AnyStep> Bind<S> {
    /// Runs the step, or gets ready to. Generated code only.
    pub fn evaluated(self) -> S::Run {
        self.0.run()
    }
}
