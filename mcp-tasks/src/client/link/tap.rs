//! What is read off the wire beside rmcp: replies, questions and notifications
//! as they were written.
//!
//! rmcp's types forget the order of a form's fields and whatever they do not
//! know. So a request of ours carries a [`Slot`], which the transport fills with
//! the reply's text, and rmcp is handed a stand-in for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions, RequestId, ServerJsonRpcMessage,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::client::Progress;
use crate::protocol::{META_SUBSCRIPTION_ID, TASKS_EXTENSION};

/// How many questions of older sessions are remembered until rmcp hands them on.
const REMEMBERED: usize = 64;

/// Where the text of a reply goes. Travels in the request's extensions, which
/// are not on the wire.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot(Arc<OnceLock<Arc<RawValue>>>);

impl Slot {
    pub(super) fn take(&self) -> Option<Arc<RawValue>> {
        self.0.get().cloned()
    }

    /// Whether anybody else still has it.
    pub(super) fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

/// What a server says without being asked.
#[derive(Debug)]
pub(in crate::client) enum Told {
    /// It will tell of these tasks (P40).
    Agreed(Vec<String>),
    /// The state of a task (P41).
    Task(Arc<RawValue>),
    /// The progress of a call.
    Progress(Progress, Option<String>),
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
}

/// Who is shown every message.
pub(in crate::client) type Show = Arc<dyn Fn(Direction, &str) + Send + Sync>;

/// Who hears what, on one connection.
#[derive(Default)]
pub(in crate::client) struct Tap {
    inner: Mutex<Inner>,
    show: Option<Show>,
}

#[derive(Default)]
struct Inner {
    slots: HashMap<RequestId, Slot>,
    /// By the id of the subscription, and by progress token, both as text.
    listeners: HashMap<String, mpsc::UnboundedSender<Told>>,
    /// The parameters of questions in older sessions, by the request's id.
    questions: VecDeque<(String, Arc<RawValue>)>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Arc<RawValue>>,
    #[serde(default)]
    result: Option<Arc<RawValue>>,
}

impl Tap {
    pub(super) fn new(show: Option<Show>) -> Self {
        Self {
            inner: Mutex::default(),
            show,
        }
    }

    /// Looks at a message that is about to be sent, and writes it.
    ///
    /// # Errors
    ///
    /// If it is not JSON.
    pub(super) fn sending(&self, message: &ClientJsonRpcMessage) -> serde_json::Result<String> {
        if let ClientJsonRpcMessage::Request(request) = message
            && let Some(slot) = request.request.extensions().get::<Slot>()
        {
            let slots = &mut self.lock().slots;
            // Nobody waits for these any more.
            slots.retain(|_, slot| slot.is_wanted());
            slots.insert(request.id.clone(), slot.clone());
        }
        let text = match message {
            ClientJsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::InitializeRequest(_)) =>
            {
                of_older_session(message)?
            }
            _ => serde_json::to_string(message)?,
        };
        self.show(Direction::Sent, &text);
        Ok(text)
    }

    fn show(&self, direction: Direction, text: &str) {
        if let Some(show) = &self.show {
            show(direction, text);
        }
    }

    /// Looks at a message from the server. Gives what rmcp is to be handed.
    ///
    /// # Errors
    ///
    /// If it is no message.
    pub(super) fn see(&self, text: &str) -> serde_json::Result<ServerJsonRpcMessage> {
        let envelope: Envelope = serde_json::from_str(text)?;
        self.show(Direction::Received, text);
        match envelope {
            Envelope {
                id: Some(id),
                result: Some(result),
                ..
            } => {
                let slot = self.lock().slots.remove(&id);
                if let Some(slot) = slot {
                    // Taken out above: there is one reply to a request.
                    let _ = slot.0.set(result);
                    let stand_in = serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": {} });
                    return serde_json::from_value(stand_in);
                }
                if let Some(completed) = discovered(&id, &result) {
                    return Ok(completed);
                }
            }
            Envelope {
                id: Some(id),
                method: Some(_),
                params: Some(params),
                ..
            } => {
                let questions = &mut self.lock().questions;
                questions.truncate(REMEMBERED - 1);
                questions.push_front((id.to_string(), params));
            }
            Envelope {
                id: None,
                method: Some(method),
                params: Some(params),
                ..
            } => self.hear(&method, &params),
            Envelope {
                id: Some(id),
                method: None,
                ..
            } => return self.refusal(id, text),
            _ => {}
        }
        serde_json::from_str(text)
    }

    /// The reply to a request that is no result. One that cannot be read is one all
    /// the same: nothing else will come.
    fn refusal(&self, id: RequestId, text: &str) -> serde_json::Result<ServerJsonRpcMessage> {
        let read = serde_json::from_str(text);
        let is_ours = self.lock().slots.remove(&id).is_some();
        match read {
            Err(error) if is_ours => {
                let words = format!("the server's reply cannot be read: {error}");
                let error = ErrorData::new(rmcp::model::ErrorCode::PARSE_ERROR, words, None);
                Ok(ServerJsonRpcMessage::error(error, Some(id)))
            }
            read => read,
        }
    }

    /// The parameters of a request from the server, as they were written.
    pub(super) fn question(&self, id: &RequestId) -> Option<Arc<RawValue>> {
        let id = id.to_string();
        let questions = &mut self.lock().questions;
        let place = questions.iter().position(|(asked, _)| *asked == id)?;
        questions.remove(place).map(|(_, params)| params)
    }

    /// Hears what is told under this name, until the ear is dropped.
    pub(super) fn listen(self: &Arc<Self>, name: String) -> Ear {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().listeners.insert(name.clone(), sender);
        Ear {
            tap: Arc::clone(self),
            name,
            receiver,
        }
    }

    fn hear(&self, method: &str, params: &Arc<RawValue>) {
        let Some((name, told)) = told(method, params) else {
            return;
        };
        if let Some(listener) = self.lock().listeners.get(&name) {
            // Nobody hears what comes as the ear is dropped.
            let _ = listener.send(told);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server says of itself, with how long it may be kept, which matters to nobody
/// here and which there are servers that leave out; rmcp takes nothing without it.
fn discovered(id: &RequestId, result: &RawValue) -> Option<ServerJsonRpcMessage> {
    if !result.get().contains("\"supportedVersions\"") {
        return None;
    }
    let mut result: Map<String, Value> = serde_json::from_str(result.get()).ok()?;
    result.get("supportedVersions")?.as_array()?;
    for (name, otherwise) in [
        ("resultType", Value::from("complete")),
        ("capabilities", Value::Object(Map::new())),
        ("ttlMs", Value::from(0)),
        ("cacheScope", Value::from("private")),
    ] {
        let value = result.entry(name).or_insert(Value::Null);
        if value.is_null() {
            *value = otherwise;
        }
    }
    let message = serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result });
    serde_json::from_value(message).ok()
}

/// An `initialize`: there are no tasks in what it begins (P70), so the client does not
/// say that it can follow any.
fn of_older_session(message: &ClientJsonRpcMessage) -> serde_json::Result<String> {
    let mut message = serde_json::to_value(message)?;
    let declared = &mut message["params"]["capabilities"];
    if let Some(extensions) = declared["extensions"].as_object_mut() {
        extensions.remove(TASKS_EXTENSION);
        if extensions.is_empty()
            && let Some(declared) = declared.as_object_mut()
        {
            declared.remove("extensions");
        }
    }
    serde_json::to_string(&message)
}

/// What a subscription is called among the listeners.
pub(super) fn subscription(id: &str) -> String {
    format!("subscription {id}")
}

/// What a progress token is called among the listeners.
pub(super) fn progress(token: &str) -> String {
    format!("progress {token}")
}

fn told(method: &str, params: &Arc<RawValue>) -> Option<(String, Told)> {
    #[derive(Deserialize)]
    struct Subscribed {
        #[serde(rename = "_meta")]
        meta: HashMap<String, Value>,
        #[serde(default)]
        notifications: Agreed,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Agreed {
        #[serde(default)]
        task_ids: Vec<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Progressed {
        progress_token: Value,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    }
    if method == "notifications/progress" {
        let progressed: Progressed = serde_json::from_str(params.get()).ok()?;
        let name = progress(&plain(&progressed.progress_token));
        let progress = Progress {
            done: progressed.progress,
            total: progressed.total,
        };
        return Some((name, Told::Progress(progress, progressed.message)));
    }
    let subscribed = || serde_json::from_str::<Subscribed>(params.get()).ok();
    let name = |of: &Subscribed| Some(subscription(&plain(of.meta.get(META_SUBSCRIPTION_ID)?)));
    match method {
        "notifications/subscriptions/acknowledged" => {
            let subscribed = subscribed()?;
            let name = name(&subscribed)?;
            Some((name, Told::Agreed(subscribed.notifications.task_ids)))
        }
        "notifications/tasks" => Some((name(&subscribed()?)?, Told::Task(Arc::clone(params)))),
        _ => None,
    }
}

/// An id or token as text: `7` and `"7"` are one, as they are for rmcp.
fn plain(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Hears what a server tells under one name.
pub(in crate::client) struct Ear {
    tap: Arc<Tap>,
    name: String,
    receiver: mpsc::UnboundedReceiver<Told>,
}

impl Ear {
    /// The next that is told. Cancel-safe.
    pub(in crate::client) async fn next(&mut self) -> Told {
        match self.receiver.recv().await {
            Some(told) => told,
            // The sender lives as long as the ear does.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.tap.lock().listeners.remove(&self.name);
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tap").finish_non_exhaustive()
    }
}
