//! The future of a step: when it may run, and what becomes of what it gives.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use serde_json::value::RawValue;

use super::Evaluated;
use super::bound::{BoundStep, OnAmbiguous, Read, Record};
use crate::flow::Flow;
use crate::flow::recorded::ambiguous;
use crate::flow::request::{Kind, Outcome, Request, Start};
use crate::task::InputKey;

/// The future of a step.
pub struct Stepping<F: Future, O, T> {
    place: &'static Location<'static>,
    flow: Flow,
    key: InputKey,
    function: &'static str,
    stage: Stage,
    work: Work<F>,
    at_most_once: Option<OnAmbiguous<O>>,
    record: Record<O>,
    has_failed: fn(&O) -> bool,
    read: Read<T>,
}

/// What there is to do.
enum Work<F: Future> {
    /// The call of the step, not evaluated or under way.
    Call(Pin<Box<F>>),
    Evaluated(F::Output),
    /// Nothing: it has a result.
    Over,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Not polled yet.
    New,
    /// The journal may still hold a result, or the next attempt is not due.
    Open,
    /// The attempt of this number runs.
    Running(u32),
    /// Ended, and waits to be recorded.
    Ended,
    Over,
}

impl<F: Future, O, T> Stepping<F, O, T> {
    pub(super) fn new<M>(step: BoundStep<F, O, T, M>) -> Self {
        Self {
            place: step.state.place,
            function: step.state.site.function,
            flow: step.state.flow,
            key: step.state.key,
            stage: Stage::New,
            work: step
                .future
                .map_or(Work::Over, |future| Work::Call(Box::pin(future))),
            at_most_once: step.at_most_once,
            record: step.record,
            has_failed: step.has_failed,
            read: step.read,
        }
    }
}

// The call has a box of its own, and what it is evaluated to is not pinned.
impl<F: Future, O, T> Unpin for Stepping<F, O, T> {}

impl<F, O, T> Future for Stepping<F, O, T>
where
    F: Future<Output: Evaluated<Outcome = O>>,
{
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if this.stage == Stage::New {
            let kind = Kind::Step {
                function: this.function,
                at_most_once: this.at_most_once.is_some(),
            };
            this.stage = if this.flow.open(&this.key, this.place, kind) {
                Stage::Open
            } else {
                Stage::Over
            };
        }
        if this.stage == Stage::Over {
            return Poll::Pending;
        }
        if let Some(Outcome::Step(recorded)) = this.flow.take(&this.key) {
            this.stage = Stage::Over;
            return match (this.read)(&recorded, &this.key) {
                Ok(output) => Poll::Ready(output),
                Err(error) => this.misuse("read back", &error),
            };
        }
        if this.stage == Stage::Open {
            this.start();
        }
        if let Stage::Running(attempt) = this.stage {
            let (outcome, rest) = ready!(this.poll_attempt(cx, attempt));
            this.flow.future_ended();
            if let Some(rest) = rest {
                this.stage = Stage::Open;
                let after = rest.drawn(this.flow.context().seed, &this.key, attempt);
                this.flow.step_failed(&this.key, this.function, after);
            } else {
                this.work = Work::Over;
                this.end((this.record)(outcome));
            }
        }
        Poll::Pending
    }
}

impl<F, O, T> Stepping<F, O, T>
where
    F: Future<Output: Evaluated<Outcome = O>>,
{
    /// Starts the next attempt, if it may run.
    fn start(&mut self) {
        loop {
            match self.flow.start_step(&self.key, self.function) {
                Start::Wait => return,
                Start::Attempt(n) => {
                    self.stage = Stage::Running(n);
                    return;
                }
                Start::Ambiguous => match self.at_most_once.take() {
                    Some(OnAmbiguous::RunAgain) => {
                        self.at_most_once = Some(OnAmbiguous::RunAgain);
                        self.flow.run_again(&self.key);
                    }
                    Some(OnAmbiguous::Skip(outcome)) => return self.end((self.record)(outcome)),
                    Some(OnAmbiguous::Fail) | None => return self.end(ambiguous()),
                },
            }
        }
    }

    /// Goes on with an attempt. With what it gave comes how long to rest, if
    /// it failed and another follows.
    fn poll_attempt(
        &mut self,
        cx: &mut Context<'_>,
        attempt: u32,
    ) -> Poll<(O, Option<super::Rest>)> {
        let outer = self.flow.enter_step(Some(self.key.clone()));
        if let Work::Call(call) = &mut self.work
            && let Poll::Ready(evaluated) = call.as_mut().poll(cx)
        {
            self.work = Work::Evaluated(evaluated);
        }
        let polled = match &mut self.work {
            Work::Evaluated(evaluated) => evaluated.poll_attempt(cx).map(|outcome| {
                let failed = (self.has_failed)(&outcome);
                let rest = failed.then(|| evaluated.rest_after(attempt));
                (outcome, rest.flatten())
            }),
            Work::Call(_) | Work::Over => Poll::Pending,
        };
        self.flow.enter_step(outer);
        polled
    }
}

impl<F: Future, O, T> Stepping<F, O, T> {
    /// Hands over what is to be recorded.
    fn end(&mut self, recorded: serde_json::Result<Arc<RawValue>>) {
        self.stage = Stage::Ended;
        match recorded {
            Ok(recorded) => self.flow.step_done(&self.key, self.function, recorded),
            Err(error) => {
                let _: Poll<T> = self.misuse("recorded", &error);
            }
        }
    }

    /// Ends the task: the author's type does not do what it promised.
    fn misuse(&self, verb: &str, error: &serde_json::Error) -> Poll<T> {
        self.flow.request(Request::Misuse(format!(
            "the result of the step `{}` cannot be {verb}: {error}",
            self.key
        )));
        Poll::Pending
    }
}

impl<F: Future, O, T> Drop for Stepping<F, O, T> {
    fn drop(&mut self) {
        match self.stage {
            Stage::New | Stage::Over => {}
            Stage::Open | Stage::Ended => self.flow.close(&self.key),
            Stage::Running(_) => {
                self.flow.future_ended();
                self.flow.close(&self.key);
            }
        }
    }
}
