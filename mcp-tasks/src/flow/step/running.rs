//! The future of a step: when it may run, and what becomes of what it gives.
//!
//! There are as many types of steps as there are calls of `step`, so what does
//! not depend on the type is compiled once, in [`Course`].

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use serde_json::value::RawValue;

use super::bound::{BoundStep, OnAmbiguous, Read, Record};
use super::{Evaluated, Rest};
use crate::flow::Flow;
use crate::flow::recorded::ambiguous;
use crate::flow::request::{Kind, Outcome, Request, Start};
use crate::task::InputKey;

/// The future of a step.
pub struct Stepping<F: Future, O, T> {
    course: Course,
    attempts: Attempts<F, O>,
    read: Read<T>,
}

impl<F: Future, O, T> Stepping<F, O, T> {
    pub(super) fn new<M>(step: BoundStep<F, O, T, M>) -> Self {
        let record = step.record;
        Self {
            course: Course {
                place: step.state.place,
                function: step.state.site.function,
                flow: step.state.flow,
                key: step.state.key,
                stage: Stage::New,
                at_most_once: step.at_most_once.map(|then| then.map(record)),
            },
            attempts: Attempts {
                work: step
                    .future
                    .map_or(Work::Over, |future| Work::Call(Box::pin(future))),
                has_failed: step.has_failed,
                record,
            },
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
        let recorded = ready!(this.course.poll(&mut this.attempts, cx));
        match (this.read)(&recorded, &this.course.key) {
            Ok(output) => Poll::Ready(output),
            Err(error) => {
                // The error itself may repeat what the step gave, which does not
                // belong in a log.
                let why = format!(
                    "it is not of the type that the code now has for it, from character {} on",
                    error.column()
                );
                this.course.misuse("read back", &why);
                Poll::Pending
            }
        }
    }
}

/// What a step gave, in a form that can be recorded.
type Recordable = serde_json::Result<Arc<RawValue>>;

/// The attempts of a step, of whatever type it is.
trait Attempt {
    /// Goes on with the attempt of this number.
    fn poll(&mut self, cx: &mut Context<'_>, number: u32) -> Poll<Attempted>;
}

enum Attempted {
    /// There will be no other.
    Last(Recordable),
    /// It failed, and another follows after a rest.
    Failed(Rest),
}

struct Attempts<F: Future, O> {
    work: Work<F>,
    has_failed: fn(&O) -> bool,
    record: Record<O>,
}

/// What there is to do.
enum Work<F: Future> {
    /// The call of the step, not evaluated or under way.
    Call(Pin<Box<F>>),
    Evaluated(F::Output),
    /// Nothing: it has a result.
    Over,
}

impl<F, O> Attempt for Attempts<F, O>
where
    F: Future<Output: Evaluated<Outcome = O>>,
{
    fn poll(&mut self, cx: &mut Context<'_>, number: u32) -> Poll<Attempted> {
        if let Work::Call(call) = &mut self.work {
            self.work = Work::Evaluated(ready!(call.as_mut().poll(cx)));
        }
        let Work::Evaluated(evaluated) = &mut self.work else {
            return Poll::Pending;
        };
        let outcome = ready!(evaluated.poll_attempt(cx));
        if (self.has_failed)(&outcome)
            && let Some(rest) = evaluated.rest_after(number)
        {
            return Poll::Ready(Attempted::Failed(rest));
        }
        self.work = Work::Over;
        Poll::Ready(Attempted::Last((self.record)(outcome)))
    }
}

/// How a step goes through its task.
struct Course {
    place: &'static Location<'static>,
    flow: Flow,
    key: InputKey,
    function: &'static str,
    stage: Stage,
    at_most_once: Option<OnAmbiguous<Recordable>>,
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

impl Course {
    /// Gives what the journal says of the step, once it is its turn.
    fn poll(&mut self, attempts: &mut dyn Attempt, cx: &mut Context<'_>) -> Poll<Arc<RawValue>> {
        if self.stage == Stage::New {
            let kind = Kind::Step {
                function: self.function,
                at_most_once: self.at_most_once.is_some(),
            };
            self.stage = if self.flow.open(&self.key, self.place, kind) {
                Stage::Open
            } else {
                Stage::Over
            };
        }
        if self.stage == Stage::Over {
            return Poll::Pending;
        }
        if let Some(Outcome::Step(recorded)) = self.flow.take(&self.key) {
            self.stage = Stage::Over;
            return Poll::Ready(recorded);
        }
        if self.stage == Stage::Open {
            self.start();
        }
        if let Stage::Running(number) = self.stage {
            let outer = self.flow.enter_step(Some(self.key.clone()));
            let attempted = attempts.poll(cx, number);
            self.flow.enter_step(outer);
            let attempted = ready!(attempted);
            self.flow.step_ended();
            match attempted {
                Attempted::Last(outcome) => self.end(outcome),
                Attempted::Failed(rest) => {
                    self.stage = Stage::Open;
                    let after = rest.drawn(self.flow.context().seed, &self.key, number);
                    self.flow.step_failed(&self.key, self.function, after);
                }
            }
        }
        Poll::Pending
    }

    /// Starts the next attempt, if it may run.
    fn start(&mut self) {
        loop {
            match self.flow.start_step(&self.key, self.function) {
                Start::Wait => return,
                Start::Attempt(number) => {
                    self.stage = Stage::Running(number);
                    return;
                }
                Start::Ambiguous => match self.at_most_once.take() {
                    Some(OnAmbiguous::RunAgain) => {
                        self.at_most_once = Some(OnAmbiguous::RunAgain);
                        self.flow.run_again(&self.key);
                    }
                    Some(OnAmbiguous::Skip(outcome)) => return self.end(outcome),
                    Some(OnAmbiguous::Fail) | None => return self.end(ambiguous()),
                },
            }
        }
    }

    /// Hands over what is to be recorded.
    fn end(&mut self, outcome: Recordable) {
        self.stage = Stage::Ended;
        match outcome {
            Ok(recorded) => self.flow.step_done(&self.key, self.function, recorded),
            Err(error) => self.misuse("recorded", &error),
        }
    }

    /// Ends the task: the author's type does not do what it promised.
    fn misuse(&self, verb: &str, why: &dyn fmt::Display) {
        self.flow.request(Request::Misuse(format!(
            "the result of the step `{}` cannot be {verb}: {why}",
            self.key
        )));
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        match self.stage {
            Stage::New | Stage::Over => {}
            Stage::Open | Stage::Ended => self.flow.close(&self.key),
            Stage::Running(_) => {
                self.flow.step_ended();
                self.flow.close(&self.key);
            }
        }
    }
}
