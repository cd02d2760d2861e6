//! What may be awaited in a body that can be replayed.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Bound;
use super::bind::InTask;

/// A future whose outcome the task's journal knows.
///
/// A task function is run again from the top after a restart. Every `.await`
/// in it must therefore be one that the journal can answer, or one that is
/// marked as harmless to repeat.
#[diagnostic::on_unimplemented(
    message = "a task cannot await `{Self}`: it is not durable, and would run again after a restart",
    label = "not recorded in the task's journal",
    note = "wrap it in `step(..)`, which runs once and records the result; `step_value(..)` for a future that cannot fail",
    note = "or in `unrecorded(..)`, if it does no harm that it runs again after a restart",
    note = "a function of your own that asks or takes steps itself is marked `#[mcp_task_flow]`; one that is marked `#[mcp_task]` is called by clients only"
)]
pub trait DurableFuture {
    /// What it gives.
    type Output;

    /// Whether it is bound to a task. Not a bound of the implementations: what
    /// is not bound is then said to be just that.
    type State;

    /// The future behind it.
    type Future: Future<Output = Self::Output>;

    /// Starts waiting.
    fn into_durable(self) -> Self::Future
    where
        Self::State: InTask;
}

/// Checks that a future is durable. Generated code only.
pub fn durable<F: DurableFuture<State: InTask>>(future: F) -> F::Future {
    future.into_durable()
}

/// What would be awaited, if it could be where it stands. Generated code only,
/// beside an error that says so.
pub fn never_awaited<F: DurableFuture>(_: F) -> F::Output {
    unreachable!("it has been refused")
}

/// An `async` block that stands directly in `join!`, `race!` and the like.
#[must_use = "a branch does nothing until it is awaited"]
pub struct Branch<F>(Pin<Box<F>>);

/// Marks a branch. Generated code only.
pub fn branch<F: Future>(future: F) -> Branch<F> {
    Branch(Box::pin(future))
}

impl<F: Future> Future for Branch<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(cx)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future> DurableFuture for Branch<F> {
    type Output = F::Output;
    type State = Bound;
    type Future = Self;

    fn into_durable(self) -> Self {
        self
    }
}
