//! What a step gives, and how it is recorded and read back.
//!
//! That a step's outcome can be recorded is asked for in one place, where the
//! step is bound to the task, and the types that follow do not repeat it: so a
//! mistake is one error, in our words.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::StepError;
use crate::task::InputKey;

/// A value that a step can record: any that serde can write and read.
#[diagnostic::on_unimplemented(
    message = "a step cannot record `{Self}`",
    label = "the value of this step must be written to the journal and read back after a restart",
    note = "derive both `serde::Serialize` and `serde::Deserialize` for it, or return something smaller that has both"
)]
pub trait StepResult: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> StepResult for T {}

/// An error that a step can record: its words are what is kept.
#[diagnostic::on_unimplemented(
    message = "a step cannot record the error `{Self}`, which has no words",
    label = "the error of this step must implement `Display`",
    note = "implement `std::fmt::Display` for it, or turn it into an error that has words with `map_err`"
)]
pub trait StepFailure: Display {}

#[diagnostic::do_not_recommend]
impl<T: Display> StepFailure for T {}

/// What the future of a step gives: a `Result` for [`step`](super::step).
#[diagnostic::on_unimplemented(
    message = "`step` takes a future that gives a `Result`, this one gives `{Self}`",
    label = "the future of this step cannot fail",
    note = "use `step_value(..)` for a future that cannot fail"
)]
pub trait StepOutcome {
    /// The value of a step that went well.
    type Value;
    /// The error of one that did not.
    type Error;
    /// What awaiting the step gives.
    type Output;

    /// Whether the step failed.
    fn has_failed(&self) -> bool;

    /// The outcome as a result, to be recorded.
    fn into_result(self) -> Result<Self::Value, Self::Error>;

    /// What was recorded, as the step gives it.
    fn from_recorded(
        recorded: Recorded<Self::Value>,
        step: &InputKey,
    ) -> serde_json::Result<Self::Output>;
}

#[diagnostic::do_not_recommend]
impl<T, E> StepOutcome for Result<T, E> {
    type Value = T;
    type Error = E;
    type Output = Result<T, StepError>;

    fn has_failed(&self) -> bool {
        self.is_err()
    }

    fn into_result(self) -> Self {
        self
    }

    fn from_recorded(recorded: Recorded<T>, step: &InputKey) -> serde_json::Result<Self::Output> {
        Ok(match recorded {
            Recorded::Ok(value) => Ok(value),
            Recorded::Err(message) => Err(StepError::new(step.clone(), message)),
            Recorded::Ambiguous => Err(StepError::ambiguous(step.clone())),
        })
    }
}

/// What the future of a [`step_value`](super::step_value) gives.
pub struct Sure<T>(pub(super) T);

#[diagnostic::do_not_recommend]
impl<T> StepOutcome for Sure<T> {
    type Value = T;
    type Error = Infallible;
    type Output = T;

    fn has_failed(&self) -> bool {
        false
    }

    fn into_result(self) -> Result<T, Infallible> {
        Ok(self.0)
    }

    fn from_recorded(recorded: Recorded<T>, _: &InputKey) -> serde_json::Result<T> {
        match recorded {
            Recorded::Ok(value) => Ok(value),
            Recorded::Err(message) => Err(serde::de::Error::custom(message)),
            Recorded::Ambiguous => Err(serde::de::Error::custom(StepError::AMBIGUOUS)),
        }
    }
}

/// A step's outcome in the journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recorded<T, E = String> {
    Ok(T),
    Err(E),
    /// It must not run twice, and may have run.
    Ambiguous,
}

impl<T, E> Recorded<T, E>
where
    Self: Serialize,
{
    fn to_raw(&self) -> serde_json::Result<Arc<RawValue>> {
        serde_json::value::to_raw_value(self).map(Into::into)
    }
}

/// That it is not known whether a step ran, in a form that can be recorded.
pub(super) fn ambiguous() -> serde_json::Result<Arc<RawValue>> {
    Recorded::<()>::Ambiguous.to_raw()
}

/// Puts what a step gave into a form that can be recorded.
pub(super) fn record<O>(outcome: O) -> serde_json::Result<Arc<RawValue>>
where
    O: StepOutcome<Value: StepResult, Error: StepFailure>,
{
    match outcome.into_result() {
        Ok(value) => Recorded::<_>::Ok(value).to_raw(),
        // `anyhow` shows what caused an error only in this form.
        Err(error) => Recorded::<()>::Err(format!("{error:#}")).to_raw(),
    }
}

/// Reads what was recorded.
pub(super) fn read<O: StepOutcome<Value: StepResult>>(
    recorded: &RawValue,
    step: &InputKey,
) -> serde_json::Result<O::Output> {
    O::from_recorded(serde_json::from_str(recorded.get())?, step)
}

/// The same as [`record`], for a step whose error is kept as what it is.
pub(super) fn record_typed<T, E>(outcome: Result<T, E>) -> serde_json::Result<Arc<RawValue>>
where
    T: StepResult,
    E: StepResult,
{
    match outcome {
        Ok(value) => Recorded::<T, E>::Ok(value).to_raw(),
        Err(error) => Recorded::<T, E>::Err(error).to_raw(),
    }
}

/// Reads what [`record_typed`] recorded.
pub(super) fn read_typed<T, E>(
    recorded: &RawValue,
    _: &InputKey,
) -> serde_json::Result<Result<T, E>>
where
    T: StepResult,
    E: StepResult,
{
    match serde_json::from_str(recorded.get())? {
        Recorded::Ok(value) => Ok(Ok(value)),
        Recorded::Err(error) => Ok(Err(error)),
        Recorded::Ambiguous => Err(serde::de::Error::custom(StepError::AMBIGUOUS)),
    }
}
