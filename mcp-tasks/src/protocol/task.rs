//! A task as `tasks/get` shows it (P10, P12).

use std::borrow::Cow;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{
    Form, InputKind, META_PROGRESS, META_SERVER_INFO, META_SUBSCRIPTION_ID, ProtocolError,
};

/// The five states of a task (P15: the last three are final).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// The function runs, or waits for something that is not the client's.
    Working,
    /// At least one question waits for an answer.
    InputRequired,
    /// The function returned; a tool error counts as a result (P14).
    Completed,
    /// The call ended in a JSON-RPC error.
    Failed,
    /// The task was cancelled before it returned.
    Cancelled,
}

impl TaskStatus {
    /// Whether the task will never change again.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A request to the client, as it stands in `inputRequests` (P20).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputRequest {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: Cow<'static, str>,
    /// The parameters as they were written once and for all.
    pub params: Arc<RawValue>,
    /// The form among the parameters, as long as the process remembers it.
    #[serde(skip)]
    form: Option<Arc<Form>>,
}

impl InputRequest {
    /// A request with its parameters in JSON.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Arc<RawValue>) -> Self {
        Self {
            method: method.into(),
            params,
            form: None,
        }
    }

    /// Remembers the form that the parameters contain, so that it need not be
    /// read from them again.
    pub(crate) fn showing(mut self, form: Arc<Form>) -> Self {
        self.form = Some(form);
        self
    }

    /// What kind of question it is.
    pub fn kind(&self) -> InputKind {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, default)]
            mode: Option<Cow<'a, str>>,
        }
        match &*self.method {
            "sampling/createMessage" => InputKind::Model,
            "roots/list" => InputKind::Roots,
            _ if self.form.is_some() => InputKind::Form,
            _ => match serde_json::from_str::<Params<'_>>(self.params.get()) {
                Ok(params) if params.mode.as_deref() == Some("url") => InputKind::Url,
                _ => InputKind::Form,
            },
        }
    }

    /// The form that the request shows; empty if it shows none.
    pub(crate) fn form(&self) -> Cow<'_, Form> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "requestedSchema")]
            requested_schema: Form,
        }
        if let Some(form) = &self.form {
            return Cow::Borrowed(form);
        }
        let form = serde_json::from_str::<Params>(self.params.get())
            .map(|params| params.requested_schema)
            .unwrap_or_default();
        Cow::Owned(form)
    }
}

impl PartialEq for InputRequest {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method && self.params.get() == other.params.get()
    }
}

/// A task with everything that its status carries.
///
/// Serializes in this order, flat, without a `task` wrapper.
#[derive(Debug)]
pub struct DetailedTask<'a> {
    /// `complete` on `tasks/get`, `task` on `tools/call`; notifications have none.
    pub result_type: Option<&'static str>,
    /// The task's id.
    pub task_id: &'a str,
    /// Its state.
    pub status: TaskStatus,
    /// What it is doing, or why it ended as it did.
    pub status_message: Option<&'a str>,
    /// ISO 8601.
    pub created_at: &'a str,
    /// ISO 8601.
    pub last_updated_at: &'a str,
    /// Milliseconds from creation, or `None` for no limit.
    pub ttl_ms: Option<u64>,
    /// Milliseconds between two polls.
    pub poll_interval_ms: Option<u64>,
    /// What the status carries.
    pub detail: Detail<'a>,
    /// `(done, total)`.
    pub progress: Option<(u64, u64)>,
    /// The server's name and version, for `_meta`.
    pub server_info: &'a Value,
    /// Of a notification: the id of the request that subscribed, for `_meta`.
    pub subscription_id: Option<&'a RawValue>,
}

/// The part of a task that its status decides.
#[derive(Debug)]
pub enum Detail<'a> {
    /// `working`, `cancelled`, and everything in a `CreateTaskResult`.
    None,
    /// `input_required`: the questions in the order in which they were asked.
    InputRequests(Vec<(&'a str, &'a InputRequest)>),
    /// `completed`: what the call would have returned.
    Result(&'a RawValue),
    /// `failed`: the JSON-RPC error.
    Error(&'a ProtocolError),
}

impl Serialize for DetailedTask<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(result_type) = self.result_type {
            map.serialize_entry("resultType", result_type)?;
        }
        map.serialize_entry("taskId", self.task_id)?;
        map.serialize_entry("status", &self.status)?;
        if let Some(message) = self.status_message {
            map.serialize_entry("statusMessage", message)?;
        }
        map.serialize_entry("createdAt", self.created_at)?;
        map.serialize_entry("lastUpdatedAt", self.last_updated_at)?;
        map.serialize_entry("ttlMs", &self.ttl_ms)?;
        if let Some(interval) = self.poll_interval_ms {
            map.serialize_entry("pollIntervalMs", &interval)?;
        }
        match &self.detail {
            Detail::None => {}
            Detail::InputRequests(requests) => {
                map.serialize_entry("inputRequests", &InOrder(requests))?;
            }
            Detail::Result(result) => map.serialize_entry("result", result)?,
            Detail::Error(error) => map.serialize_entry("error", error)?,
        }
        map.serialize_entry(
            "_meta",
            &Meta {
                server_info: self.server_info,
                progress: self.progress,
                subscription_id: self.subscription_id,
            },
        )?;
        map.end()
    }
}

struct InOrder<'a>(&'a [(&'a str, &'a InputRequest)]);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, request)| (key, request)))
    }
}

/// The `_meta` of a result: who answers (P16), and how far a task is. That of a
/// notification also says to which subscription it belongs (P40).
pub(crate) struct Meta<'a> {
    pub(crate) server_info: &'a Value,
    pub(crate) progress: Option<(u64, u64)>,
    pub(crate) subscription_id: Option<&'a RawValue>,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Progress {
            done: u64,
            total: u64,
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(META_SERVER_INFO, self.server_info)?;
        if let Some((done, total)) = self.progress {
            map.serialize_entry(META_PROGRESS, &Progress { done, total })?;
        }
        if let Some(id) = self.subscription_id {
            map.serialize_entry(META_SUBSCRIPTION_ID, id)?;
        }
        map.end()
    }
}
