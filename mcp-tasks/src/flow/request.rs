//! What a function wants of its driver, and what it gets.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::protocol::InputRequest;
use crate::task::{InputKey, Response, Timestamp, millis};

/// What a function waited for.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Answer(Arc<Response>),
    Step(Arc<RawValue>),
    TimerFired,
    /// An `unrecorded` future may give what it has.
    Ran,
}

/// What a function waits for under a key, and what makes it the same thing in
/// another run of the code.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) kind: Kind,
    /// Where in the code; for the log only.
    pub(crate) place: &'static Location<'static>,
}

/// A kind of wait, with its content.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Ask {
        request: InputRequest,
        /// Whether the words do not matter, only the form.
        any_wording: bool,
    },
    Step {
        function: &'static str,
        at_most_once: bool,
    },
    Timer,
    Unrecorded,
}

/// What a function wants of its driver.
#[derive(Debug)]
pub(crate) enum Request {
    Ask {
        key: InputKey,
        request: InputRequest,
    },
    Timer {
        key: InputKey,
        due: TimerDue,
    },
    /// The call is to become a task.
    StartTask,
    /// A step wants to start, and may not before the task exists.
    StartStep,
    /// A step that must not run twice wants to start.
    Intend {
        key: InputKey,
        function: &'static str,
    },
    /// An attempt at a step failed; the next is due after so long.
    Attempt {
        key: InputKey,
        function: &'static str,
        n: u32,
        after: Duration,
    },
    StepDone {
        key: InputKey,
        function: &'static str,
        outcome: Arc<RawValue>,
    },
    /// An `unrecorded` future has ended.
    Ran {
        key: InputKey,
    },
    Withdraw {
        key: InputKey,
    },
    /// Something is asked for that was recorded as dropped, before this run.
    Late {
        key: InputKey,
    },
    Patched {
        id: Arc<str>,
    },
    Ttl {
        ttl_ms: Option<u64>,
    },
    /// The function broke a rule that only shows at run time.
    Misuse(String),
}

/// When a timer goes off.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerDue {
    /// So long after it is recorded.
    After(Duration),
    /// At this moment.
    At(Timestamp),
}

impl TimerDue {
    pub(crate) fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::After(duration) => now.plus_millis(millis(duration)),
            Self::At(at) => at,
        }
    }
}

/// Whether a step may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Not yet; it will be polled again.
    Wait,
    /// Now; it is the attempt of this number, from 1.
    Attempt(u32),
    /// It was about to run when a process died, and must not run twice.
    Ambiguous,
}
