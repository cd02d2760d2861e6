//! Methods that people look for where there are none.
//!
//! They are there to say so: each asks for something that nothing has, in words
//! that name what there is instead.

use std::time::Duration;

use super::{BoundStep, Signal, Sleep};

/// What else has a time limit of its own: nothing.
#[diagnostic::on_unimplemented(
    message = "a question, a signal and a flow have `.timeout(..)`, a step and a timer have not",
    label = "no time limit of its own",
    note = "the time limit of a step is part of its future: `step(async {{ tokio::time::timeout(limit, ..).await }})`",
    note = "or put what is to be limited into a function marked `#[mcp_task_flow]`"
)]
pub trait TimeLimited {}

/// What is tried again without a policy: nothing.
#[diagnostic::on_unimplemented(
    message = "a step is tried again if it is made by `step_with`",
    label = "made by `step` or `step_value`",
    note = "write `step_with(Retry::attempts(3), || ..)`"
)]
pub trait TriedAgain {}

/// Which signals have a key: none.
#[diagnostic::on_unimplemented(
    message = "a signal has no `.key(..)`: it goes by the name that it is sent to",
    label = "known by its name",
    note = "write the name in `signal(\"name\")`; several waits for one name take its signals one after another"
)]
pub trait SignalWithKey {}

const NONE: &str = "nothing has this";

#[doc(hidden)]
impl<F, O, T, M> BoundStep<F, O, T, M> {
    pub fn timeout(self, _: Duration) -> Self
    where
        Self: TimeLimited,
    {
        unreachable!("{NONE}")
    }

    pub fn retry<P>(self, _: P) -> Self
    where
        Self: TriedAgain,
    {
        unreachable!("{NONE}")
    }
}

#[doc(hidden)]
impl<T, S> Signal<T, S> {
    pub fn key(self, _: impl AsRef<str>) -> Self
    where
        Self: SignalWithKey,
    {
        unreachable!("{NONE}")
    }
}

#[doc(hidden)]
impl<S> Sleep<S> {
    pub fn timeout(self, _: Duration) -> Self
    where
        Self: TimeLimited,
    {
        unreachable!("{NONE}")
    }
}
