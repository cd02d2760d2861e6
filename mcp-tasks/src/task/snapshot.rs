//! A task as others see it at one moment.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Caller, Created, Held, InputKey, Outcome, TaskId, Timestamp};
use crate::protocol::{Capabilities, Detail, DetailedTask, InputRequest, TaskStatus};

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// What there is to do.
    pub total: u64,
}

/// What `tasks/get` says of a task, before it is put into words.
///
/// Kept beside the journal, so that reading a task is one read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The task's id.
    pub id: TaskId,
    /// The tool that was called.
    pub tool: Arc<str>,
    /// The version of the tool's code.
    pub version: u32,
    /// The caller that the task belongs to.
    pub caller: Caller,
    /// When it was created.
    pub created_at: Timestamp,
    /// When anything of it last changed.
    pub updated_at: Timestamp,
    /// Milliseconds to live from creation, or `None` for no limit.
    pub ttl_ms: Option<u64>,
    /// Milliseconds between two polls.
    pub poll_interval_ms: u64,
    /// What the function last said it was doing.
    pub message: Option<Arc<str>>,
    /// How far the function last said it was.
    pub progress: Option<Progress>,
    /// The questions that wait for an answer, in the order of asking.
    pub input_requests: Vec<(InputKey, InputRequest)>,
    /// What the client declared, if there are people beside it who can be asked
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Capabilities>,
    /// When a cancelled task's time to clean up is over.
    pub cancel_deadline: Option<Timestamp>,
    /// Why nobody runs it, if its code does not fit its journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
}

/// How long ended tasks stay readable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    /// The larger of five minutes and what is left of the task's ttl.
    #[default]
    UntilTtl,
    /// So many milliseconds after the end.
    Millis(u64),
}

impl Retention {
    /// When a task is deleted that has ended; `None` for never.
    pub(crate) fn ends_at(
        self,
        ended_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Option<Timestamp> {
        match self {
            Self::Millis(millis) => Some(ended_at.plus_millis(millis)),
            Self::UntilTtl => Some(expires_at?.max(ended_at.plus_millis(LEAST_RETENTION_MS))),
        }
    }
}

/// The next thing that time alone does to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It has outlived its ttl.
    Expiry,
    /// Its time to clean up after a cancellation is over.
    CancelDeadline,
    /// It ended long enough ago.
    Deletion,
}

/// What a client is told of questions that it is not shown.
const ELSEWHERE: &str = "a person is asked in the server's inbox";

const LEAST_RETENTION_MS: u64 = 5 * 60 * 1000;

impl Snapshot {
    pub(super) fn new(created: &Created, at: Timestamp) -> Self {
        Self {
            id: created.id.clone(),
            tool: created.tool.clone(),
            version: created.version,
            caller: created.caller.clone(),
            created_at: at,
            updated_at: at,
            ttl_ms: created.ttl_ms,
            poll_interval_ms: created.poll_interval_ms,
            message: None,
            progress: None,
            input_requests: Vec::new(),
            client: created.capabilities.inbox.then_some(created.capabilities),
            cancel_deadline: None,
            held: None,
            outcome: None,
        }
    }

    /// The status on the wire (P12); a client that cannot show any of the questions
    /// is told that the task is working.
    pub fn status(&self) -> TaskStatus {
        match &self.outcome {
            Some(Outcome::Completed { .. }) => TaskStatus::Completed,
            Some(Outcome::Failed { .. }) => TaskStatus::Failed,
            Some(Outcome::Cancelled) => TaskStatus::Cancelled,
            // An answer to a held task's question is still judged and kept; but
            // nobody is asked for it.
            None if self.input_requests.is_empty() || self.held.is_some() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
        }
    }

    /// The questions that the client is asked (P21): all, but for those that wait
    /// for people elsewhere because the client cannot show them.
    fn asked_of_client(&self) -> Vec<(&str, &InputRequest)> {
        let asked = self.input_requests.iter().filter(|(_, request)| {
            let client = self.client.as_ref();
            client.is_none_or(|client| client.client_can_be_asked(request.kind()))
        });
        asked
            .map(|(key, request)| (key.as_str(), request))
            .collect()
    }

    /// Whether the task will never change again.
    pub fn is_terminal(&self) -> bool {
        self.outcome.is_some()
    }

    /// When the task outlives its ttl.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.ttl_ms.map(|ttl| self.created_at.plus_millis(ttl))
    }

    /// What time does next to this task, and when.
    pub fn due(&self, retention: Retention) -> Option<(Timestamp, Due)> {
        if !self.is_terminal() {
            let expiry = self.expires_at().map(|at| (at, Due::Expiry));
            let deadline = self.cancel_deadline.map(|at| (at, Due::CancelDeadline));
            return [expiry, deadline]
                .into_iter()
                .flatten()
                .min_by_key(|due| due.0);
        }
        let delete_at = retention.ends_at(self.updated_at, self.expires_at())?;
        Some((delete_at, Due::Deletion))
    }

    /// The message on the wire: progress first, then the function's words; of
    /// a failed task, the error.
    pub fn status_message(&self) -> Option<String> {
        if let Some(Outcome::Failed { error }) = &self.outcome {
            return Some(error.message.clone());
        }
        if let Some(held) = &self.held {
            return Some(held.reason.to_string());
        }
        match (&self.progress, &self.message) {
            (None, message) => message.as_deref().map(str::to_owned),
            (Some(Progress { done, total }), None) => Some(format!("{done}/{total}")),
            (Some(Progress { done, total }), Some(message)) => {
                Some(format!("{done}/{total} {message}"))
            }
        }
    }

    /// Whether a client that has seen `earlier` of this task learns nothing from
    /// this one: only the time of the last change may differ.
    pub fn looks_like(&self, earlier: &Self) -> bool {
        // How it ended is not compared: it ends once.
        self.is_terminal() == earlier.is_terminal()
            && self.reason_held() == earlier.reason_held()
            && self.message == earlier.message
            && self.progress == earlier.progress
            && self.ttl_ms == earlier.ttl_ms
            && self.poll_interval_ms == earlier.poll_interval_ms
            && self.input_requests == earlier.input_requests
    }

    fn reason_held(&self) -> Option<&str> {
        self.held.as_ref().map(|held| held.reason.as_ref())
    }

    /// Whether a client that was told of the task's creation has missed nothing
    /// since; `ttl_ms` is what it was then.
    pub fn looks_new(&self, ttl_ms: Option<u64>) -> bool {
        self.outcome.is_none()
            && self.held.is_none()
            && self.message.is_none()
            && self.progress.is_none()
            && self.ttl_ms == ttl_ms
            && self.input_requests.is_empty()
    }

    /// The JSON of a `CreateTaskResult` (P10).
    pub fn to_created_json(&self, server_info: &Value) -> String {
        self.to_json(Some("task"), false, server_info, None)
    }

    /// The JSON of a `GetTaskResult` (P12).
    pub fn to_detailed_json(&self, server_info: &Value) -> String {
        self.to_json(Some("complete"), true, server_info, None)
    }

    /// The JSON of the parameters of `notifications/tasks`: a `GetTaskResult`
    /// without its `resultType` and with the subscription in `_meta` (P41).
    pub fn to_notification_json(&self, server_info: &Value, subscription_id: &RawValue) -> String {
        self.to_json(None, true, server_info, Some(subscription_id))
    }

    fn to_json(
        &self,
        result_type: Option<&'static str>,
        full: bool,
        server_info: &Value,
        subscription_id: Option<&RawValue>,
    ) -> String {
        let mut status = self.status();
        let mut status_message = self.status_message();
        let mut asked = Vec::new();
        if status == TaskStatus::InputRequired {
            asked = self.asked_of_client();
            if asked.is_empty() {
                status = TaskStatus::Working;
                status_message = Some(match status_message {
                    None => ELSEWHERE.to_owned(),
                    Some(message) => format!("{message} ({ELSEWHERE})"),
                });
            }
        }
        let detail = match &self.outcome {
            _ if !full => Detail::None,
            Some(Outcome::Completed { result }) => Detail::Result(result),
            Some(Outcome::Failed { error }) => Detail::Error(error),
            None if status == TaskStatus::InputRequired => Detail::InputRequests(asked),
            Some(Outcome::Cancelled) | None => Detail::None,
        };
        let task = DetailedTask {
            result_type,
            task_id: self.id.as_str(),
            status,
            status_message: status_message.as_deref(),
            created_at: &self.created_at.to_iso_8601(),
            last_updated_at: &self.updated_at.to_iso_8601(),
            ttl_ms: self.ttl_ms,
            poll_interval_ms: Some(self.poll_interval_ms),
            detail,
            progress: self
                .progress
                .map(|progress| (progress.done, progress.total)),
            server_info,
            subscription_id,
        };
        serde_json::to_string(&task).expect("a task is strings, numbers and recorded JSON")
    }
}
