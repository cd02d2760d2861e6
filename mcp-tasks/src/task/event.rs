//! What a journal consists of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Caller, InputKey, Progress, Response, TaskId, Timestamp};
use crate::protocol::{Capabilities, InputRequest, ProtocolError};

/// The place of an entry in its task's journal, from 1.
pub type Seq = u64;

/// Says which claim of a task a write belongs to.
///
/// It grows with every claim, so that a process which lost its claim cannot
/// write under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FencingNumber(pub u64);

/// One line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Its place.
    pub seq: Seq,
    /// When it was committed.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

impl Entry {
    /// About how many bytes the entry takes.
    pub fn weight(&self) -> u64 {
        self.event.weight() + 16
    }
}

impl Event {
    /// About how many bytes the event takes: its texts, and a little.
    pub fn weight(&self) -> u64 {
        let texts = match self {
            Self::Created(created) => created.arguments.get().len() + 128,
            Self::Asked { key, request } => key.as_str().len() + request.params.get().len(),
            Self::Answered { key, response } => key.as_str().len() + response.weight(),
            Self::StepDone { key, outcome, .. } => key.as_str().len() + outcome.get().len(),
            Self::TimerSet { key, .. } | Self::TimerFired { key } | Self::Withdrawn { key } => {
                key.as_str().len()
            }
            Self::Status { message, .. } => message.as_ref().map_or(0, |message| message.len()),
            Self::Finished(Outcome::Completed { result }) => result.get().len(),
            Self::TtlChanged { .. } | Self::CancelRequested | Self::Finished(_) => 0,
        };
        texts as u64 + 32
    }
}

/// Something that happened to a task.
///
/// Whatever the function learns from outside is an event, and is recorded
/// before the function sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The task began. Always the first entry, and only that.
    Created(Box<Created>),
    /// The function asked a question.
    Asked {
        /// The question's key.
        key: InputKey,
        /// What the client is asked.
        request: InputRequest,
    },
    /// The client answered a question.
    Answered {
        /// The question's key.
        key: InputKey,
        /// The client's result.
        response: Arc<Response>,
    },
    /// A step ran to its end.
    StepDone {
        /// The step's key.
        key: InputKey,
        /// The function that the step calls.
        function: Arc<str>,
        /// What it returned.
        outcome: Arc<RawValue>,
    },
    /// The function set a timer.
    TimerSet {
        /// The timer's key.
        key: InputKey,
        /// When it is due.
        at: Timestamp,
    },
    /// A timer went off.
    TimerFired {
        /// The timer's key.
        key: InputKey,
    },
    /// The function dropped a question, timer or recorded step.
    Withdrawn {
        /// What was dropped.
        key: InputKey,
    },
    /// The function said what it is doing. A store may drop it when a later one
    /// has taken its place.
    Status {
        /// In words.
        message: Option<Arc<str>>,
        /// In numbers.
        progress: Option<Progress>,
    },
    /// The function changed its time to live.
    TtlChanged {
        /// Milliseconds from creation, or `None` for no limit.
        ttl_ms: Option<u64>,
    },
    /// The client asked for cancellation.
    CancelRequested,
    /// The task ended. Always the last entry.
    Finished(Outcome),
}

/// Everything that a task starts from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Created {
    /// The task's id.
    pub id: TaskId,
    /// The tool that was called.
    pub tool: Arc<str>,
    /// The version of the tool's code.
    pub version: u32,
    /// The arguments as they were sent.
    pub arguments: Arc<RawValue>,
    /// Who called it.
    pub caller: Caller,
    /// What the client declared on the call.
    pub capabilities: Capabilities,
    /// Milliseconds to live, or `None` for no limit.
    pub ttl_ms: Option<u64>,
    /// Milliseconds between two polls.
    pub poll_interval_ms: u64,
    /// How long a cancelled task may clean up, if it asked for that.
    pub cancel_grace_ms: Option<u64>,
}

/// How a task ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The call returned; a tool error is a result too (P14).
    Completed {
        /// The `CallToolResult`.
        result: Arc<RawValue>,
    },
    /// The call ended in a JSON-RPC error.
    Failed {
        /// The error.
        error: ProtocolError,
    },
    /// The task was cancelled.
    Cancelled,
}
