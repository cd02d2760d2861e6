//! What a journal consists of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Caller, ClientInfo, InputKey, Progress, Response, TaskId, Timestamp};
use crate::observe::TraceContext;
use crate::protocol::{Capabilities, InputRequest, ProtocolError};

/// The version of the form in which entries are written.
///
/// It grows when an entry of today could not be read by the code of yesterday;
/// every form that was ever released is read for good.
pub const FORMAT: u32 = 1;

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

/// A call that asks once: created, asked, answered, finished.
const USUAL_ENTRIES: usize = 4;

impl Entry {
    /// The entry that every journal begins with.
    pub fn first(created: Created, at: Timestamp) -> Self {
        Self {
            seq: 1,
            at,
            event: Event::Created(Box::new(created)),
        }
    }

    /// A journal of nothing but that, with room for what usually follows.
    pub(crate) fn journal(created: Created, at: Timestamp) -> Vec<Self> {
        let mut journal = Vec::with_capacity(USUAL_ENTRIES);
        journal.push(Self::first(created, at));
        journal
    }

    /// About how many bytes the entry takes.
    pub fn weight(&self) -> u64 {
        self.event.weight() + 16
    }
}

impl Event {
    /// Whether the function sees it: these are delivered one at a time, in the
    /// order of the journal.
    pub fn is_outcome(&self) -> bool {
        matches!(
            self,
            Self::Answered { .. }
                | Self::StepDone { .. }
                | Self::TimerFired { .. }
                | Self::Ran { .. }
                | Self::Signalled { .. }
                | Self::CancelRequested
        )
    }

    /// Whether only the holder of the task's claim writes it.
    pub fn is_the_holders(&self) -> bool {
        !matches!(
            self,
            Self::Created(_)
                | Self::Answered { .. }
                | Self::Signalled { .. }
                | Self::CancelRequested
                | Self::RecoveryStarted { .. }
                | Self::Finished(_)
        )
    }

    /// About how many bytes the event takes: its texts, and a little.
    pub fn weight(&self) -> u64 {
        let texts = match self {
            Self::Created(created) => created.weight() + 128,
            Self::Asked { key, request } => key.as_str().len() + request.params.get().len(),
            Self::Answered { key, response } => key.as_str().len() + response.weight(),
            Self::StepDone { key, outcome, .. } => key.as_str().len() + outcome.get().len(),
            Self::StepIntended { key, function } | Self::StepAttempt { key, function, .. } => {
                key.as_str().len() + function.len()
            }
            Self::TimerSet { key, .. }
            | Self::TimerFired { key }
            | Self::Ran { key }
            | Self::Withdrawn { key } => key.as_str().len(),
            Self::Signalled { name, value } => name.len() + value.get().len(),
            Self::Patched { id } => id.len(),
            Self::Status { message, .. } => message.as_ref().map_or(0, |message| message.len()),
            Self::Held(held) => held.reason.len(),
            Self::Finished(Outcome::Completed { result }) => result.get().len(),
            Self::TtlChanged { .. }
            | Self::CancelRequested
            | Self::RecoveryStarted { .. }
            | Self::Resumed
            | Self::Finished(_) => 0,
        };
        texts as u64 + 32
    }
}

/// Something that happened to a task.
///
/// Whatever the function learns from outside is an event, and is recorded
/// before the function sees it.
///
/// Events are written as JSON with the kind as the only member; that form is
/// the journal's [`FORMAT`], which stores keep beside each entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// A step that must not run twice is about to run.
    StepIntended {
        /// The step's key.
        key: InputKey,
        /// The function that the step calls.
        function: Arc<str>,
    },
    /// A step failed and will be tried again.
    StepAttempt {
        /// The step's key.
        key: InputKey,
        /// The function that the step calls.
        function: Arc<str>,
        /// Which attempt failed, from 1.
        n: u32,
        /// When the next one is due.
        retry_at: Timestamp,
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
    /// An `unrecorded` future ended; its value is not kept.
    Ran {
        /// The future's key.
        key: InputKey,
    },
    /// Code beside the function sent it a value.
    Signalled {
        /// The signal's name.
        name: Arc<str>,
        /// The value.
        value: Arc<RawValue>,
    },
    /// The function took the new side of a `patched`.
    Patched {
        /// The patch.
        id: Arc<str>,
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
    /// A process began to run the task again after another had died while it
    /// ran.
    RecoveryStarted {
        /// Whether the task was the only one that the process ran: then it is
        /// to blame if that process dies too.
        alone: bool,
    },
    /// The task's code does not fit its journal, or brings processes down: it
    /// waits for code that does not.
    Held(Held),
    /// The code of a held task fits again, or a task that was taken over from a
    /// process that died has run on for a while.
    Resumed,
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
    /// What the task's random values are made from.
    pub seed: Seed,
    /// The client that called, if the tool takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// The `_meta` of the call as it was sent, if the tool takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Arc<RawValue>>,
    /// The trace that the call belongs to, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Arc<TraceContext>>,
}

impl Created {
    fn weight(&self) -> usize {
        let client = self.client.as_ref().map_or(0, ClientInfo::weight);
        let meta = self.meta.as_ref().map_or(0, |meta| meta.get().len());
        let trace = self.trace.as_ref().map_or(0, |trace| trace.weight());
        self.arguments.get().len() + client + meta + trace
    }
}

/// What a task's random values are made from: 128 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub [u64; 2]);

/// Why a task is held, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The build of the server that could not run it.
    pub build: Arc<str>,
    /// For people: names keys and versions, never places in the code.
    pub reason: Arc<str>,
    /// Whether it brings processes down: then only another build tries it.
    pub poisonous: bool,
}

/// How a task ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
