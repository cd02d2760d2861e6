//! How the things that a function awaits can fail, and how a function fails.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::protocol::{InputKind, ProtocolError, ToolResult};
use crate::task::InputKey;

/// Why a question has no answer.
///
/// Under `?` in a function that returns [`ToolError`], `Unsupported` becomes
/// the protocol error `-32021` that names the capability; the others become a
/// tool result with `isError: true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The person said no.
    #[error("the question was declined")]
    Declined,
    /// The person closed the question without choosing.
    #[error("the question was dismissed")]
    Dismissed,
    /// Nobody answered within the question's timeout.
    #[error("the question was not answered in time")]
    TimedOut,
    /// The client did not declare that it can be asked such a thing.
    #[error("the client {}: it did not declare the capability `{}`", .0.inability(), .0.capability())]
    Unsupported(InputKind),
}

/// A part of a task was not done within the time that it was given: see
/// [`FlowCall::timeout`](crate::FlowCall::timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("not done within {0:?}")]
pub struct TimedOut(Duration);

impl TimedOut {
    pub(super) fn new(timeout: Duration) -> Self {
        Self(timeout)
    }

    /// The time that it was given.
    pub fn timeout(&self) -> Duration {
        self.0
    }
}

impl From<TimedOut> for AskError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// What a failed step said, and which step it was.
///
/// The words are what is recorded: after a restart the same error comes again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step `{step}`: {message}")]
pub struct StepError {
    step: InputKey,
    message: String,
    ambiguous: bool,
}

impl StepError {
    pub(super) const AMBIGUOUS: &str = "it is not known whether the step ran: the process stopped \
         between its start and its result";

    pub(super) fn new(step: InputKey, message: String) -> Self {
        Self {
            step,
            message,
            ambiguous: false,
        }
    }

    pub(super) fn ambiguous(step: InputKey) -> Self {
        Self {
            step,
            message: Self::AMBIGUOUS.to_owned(),
            ambiguous: true,
        }
    }

    /// The step's key.
    pub fn step(&self) -> &str {
        self.step.as_str()
    }

    /// The words of the error that the step's future gave.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether it is not known if the step ran: see
    /// [`at_most_once`](crate::flow::BoundStep::at_most_once).
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }
}

/// Why a wait for a signal has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The signal came, and its value does not fit the type that
    /// [`signal`](crate::signal) was called with.
    #[error("the value of the signal `{name}` does not fit: {message}")]
    Unfit {
        /// The signal's name.
        name: String,
        /// What does not fit.
        message: String,
    },
    /// It did not come within the wait's timeout.
    #[error("the signal `{name}` did not come in time")]
    TimedOut {
        /// The signal's name.
        name: String,
    },
}

/// How a task function fails.
///
/// Any error converts into it by `?`: those of std and thiserror, `anyhow::Error`,
/// `Box<dyn Error + Send + Sync>`, and text. It ends the call with a tool result
/// that has `isError: true` (the task is `completed`, P14) and the words of the
/// error and of its sources, joined by colons; the client sees them all.
///
/// If it is, or has in its chain of sources, a [`ProtocolError`], an `ErrorData`
/// of rmcp or [`AskError::Unsupported`], the call ends in that JSON-RPC error
/// (the task is `failed`).
///
/// ```
/// use mcp_tasks::ToolError;
///
/// fn parse(text: &str) -> Result<u32, ToolError> {
///     let number: u32 = text.parse()?;
///     if number == 0 {
///         return Err(ToolError::new("zero is not a port"));
///     }
///     Ok(number)
/// }
/// assert!(parse("x").is_err());
/// ```
pub struct ToolError(Failure);

enum Failure {
    Tool(String),
    Protocol(ProtocolError),
}

impl ToolError {
    /// A failure that the tool reports: `isError: true` with these words.
    ///
    /// `.map_err(ToolError::new)` makes one of anything that can be displayed.
    pub fn new(message: impl fmt::Display) -> Self {
        Self(Failure::Tool(message.to_string()))
    }

    /// A failure of the call itself: a JSON-RPC error.
    pub fn protocol(error: ProtocolError) -> Self {
        Self(Failure::Protocol(error))
    }

    pub(super) fn into_result(self) -> Result<ToolResult, ProtocolError> {
        match self.0 {
            Failure::Tool(message) => Ok(ToolResult::error(message)),
            Failure::Protocol(error) => Err(error),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Tool(message) => f.write_str(message),
            Failure::Protocol(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Tool(message) => f.debug_tuple("ToolError").field(message).finish(),
            Failure::Protocol(error) => f.debug_tuple("ToolError").field(error).finish(),
        }
    }
}

// Like other catch-all errors, it is not an `Error` itself: the conversion from
// every `Error` would otherwise overlap with the one from itself.
impl<E: Into<Box<dyn Error + Send + Sync>> + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        // In a box it hides what it was made from.
        if let Some(error) = (&error as &dyn Any).downcast_ref::<anyhow::Error>() {
            return Self::of_chain(error.chain());
        }
        let error: Box<dyn Error + Send + Sync> = error.into();
        let first: &(dyn Error + 'static) = &*error;
        Self::of_chain(std::iter::successors(Some(first), |link| (*link).source()))
    }
}

impl ToolError {
    /// An error, with what caused it.
    fn of_chain<'e>(chain: impl Iterator<Item = &'e (dyn Error + 'static)>) -> Self {
        let mut words = String::new();
        for link in chain {
            if let Some(protocol) = protocol_error(link) {
                return Self::protocol(protocol);
            }
            let text = link.to_string();
            // Many errors repeat the words of their source.
            if words.is_empty() {
                words = text;
            } else if !words.contains(&text) {
                words = format!("{words}: {text}");
            }
        }
        Self::new(words)
    }
}

/// What ends the call in a JSON-RPC error, wherever it is in the chain.
fn protocol_error(link: &(dyn Error + 'static)) -> Option<ProtocolError> {
    if let Some(error) = link.downcast_ref::<ProtocolError>() {
        return Some(error.clone());
    }
    if let Some(error @ AskError::Unsupported(kind)) = link.downcast_ref::<AskError>() {
        return Some(ProtocolError::input_required(*kind, error.to_string()));
    }
    #[cfg(feature = "server")]
    if let Some(error) = link.downcast_ref::<rmcp::ErrorData>() {
        return Some(error.clone().into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] AskError);

    #[test]
    fn what_is_in_the_chain_keeps_its_meaning() {
        let error = ToolError::from(Outer(AskError::Unsupported(InputKind::Form)));
        assert_eq!(error.into_result().unwrap_err().code.0, -32021);
        let result = ToolError::from(Outer(AskError::Declined))
            .into_result()
            .unwrap();
        assert!(result.is_error);
        let original = ProtocolError::invalid_params("no such row");
        let error = ToolError::from(original.clone());
        assert_eq!(error.into_result().unwrap_err(), original);
    }
}
