//! Answers the 2026-07-28 messages that are ours, as text.
//!
//! A message is looked at once. If it is ours the reply is written byte for
//! byte as we mean it: members and questions in their order, the right code,
//! nothing lost on the way through another SDK's types. To anything else the
//! router says "not ours", and the message goes on as it came.

mod answers;
mod listen;
mod progress;
mod session;

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tracing::{Instrument as _, Span};

use self::answers::{answers, retry};
#[cfg(feature = "server")]
pub(crate) use self::listen::LISTEN;
pub use self::listen::Subscription;
use self::progress::Notices;
use crate::observe::story;
use crate::protocol::{
    Capabilities, InputRequest, Message, MessageKind, Meta, ProtocolError, Reply, object, text,
};
use crate::runtime::{CallRequest, Called, InputRequired, ProgressSink, Runtime, Seats, Tool};
use crate::task::{Caller, InputKey, TaskId};

/// Routes messages to a [`Runtime`]; a cheap handle.
#[derive(Clone)]
pub struct Router {
    runtime: Runtime,
    /// Subscriptions that are open.
    seats: Arc<Seats>,
}

impl Router {
    /// A router to this runtime.
    pub fn new(runtime: Runtime) -> Self {
        Self {
            runtime,
            seats: Arc::default(),
        }
    }

    /// The runtime that it routes to.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Answers a message under 2026-07-28, or says by `None` that it is not
    /// ours: `tools/call` of our tools and everything under `tasks/`. What has
    /// more than one answer, `subscriptions/listen`, goes to
    /// [`listen`](Self::listen).
    ///
    /// The order of checks is: capability, shape of the request, ownership and
    /// existence. Authentication has happened, and its outcome is `caller`.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels a call that runs inline, never a task.
    pub async fn route(&self, message: &Message<'_>, caller: &Caller) -> Option<Reply> {
        self.route_to(message, caller, None).await
    }

    /// Whether the client wants to be told of the progress of a request, which
    /// then goes to [`route_telling`](Self::route_telling).
    pub fn wants_telling(&self, message: &Message<'_>) -> bool {
        progress::token(message).is_some()
    }

    /// The same as [`route`](Self::route), where a call that is no task is said
    /// to be under way: each of its `notifications/progress` goes to `notices`
    /// before the reply is given. Nothing does if the client did not ask for it.
    pub async fn route_telling(
        &self,
        message: &Message<'_>,
        caller: &Caller,
        notices: mpsc::Sender<String>,
    ) -> Option<Reply> {
        let sink = progress::token(message).map(|token| {
            let token = token.to_owned().into();
            let lines = notices;
            Arc::new(Notices { token, lines }) as Arc<dyn ProgressSink>
        });
        self.route_to(message, caller, sink.as_ref()).await
    }

    async fn route_to(
        &self,
        message: &Message<'_>,
        caller: &Caller,
        progress: Option<&Arc<dyn ProgressSink>>,
    ) -> Option<Reply> {
        if message.kind() != MessageKind::Request {
            return None;
        }
        let method = self.method(message)?;
        let capabilities = match message.meta().required() {
            Err(error) => {
                story::refused(&error);
                return Some(Reply::error(message.id(), &error).with_status(400));
            }
            Ok(capabilities) => capabilities,
        };
        let span = method.span();
        let answer = self.answer(method, message, capabilities, caller, progress);
        let answered = async {
            match answer.await {
                Ok(result) => Reply::result(message.id(), &result),
                Err(error) => {
                    story::refused(&error);
                    Reply::error(message.id(), &error)
                }
            }
        };
        Some(answered.instrument(span).await)
    }

    /// Which of our methods the message calls.
    fn method(&self, message: &Message<'_>) -> Option<Method<'_>> {
        Some(match message.method() {
            "tools/call" => {
                // Whose tool is meant cannot be told; neither of us could run it.
                let Some(name) = message.params().name else {
                    return Some(Method::Nameless("`name` is missing"));
                };
                let Some(name) = text(name) else {
                    return Some(Method::Nameless("`name` must be a string"));
                };
                Method::Call(self.runtime.tool(&name)?)
            }
            "tasks/get" => Method::Get,
            "tasks/update" => Method::Update,
            "tasks/cancel" => Method::Cancel,
            // The rest of the prefix is reserved for the extension (P17).
            method if method.starts_with("tasks/") => Method::Unknown,
            _ => return None,
        })
    }

    async fn answer(
        &self,
        method: Method<'_>,
        message: &Message<'_>,
        capabilities: Capabilities,
        caller: &Caller,
        progress: Option<&Arc<dyn ProgressSink>>,
    ) -> Result<String, ProtocolError> {
        let params = message.params();
        match method {
            Method::Unknown => return Err(ProtocolError::method_not_found(message.method())),
            Method::Nameless(words) => return Err(ProtocolError::invalid_params(words)),
            Method::Call(tool) => {
                let retry = retry(params, self.runtime.limits())?;
                let request = CallRequest {
                    arguments: params.arguments,
                    caller,
                    capabilities,
                    client: None,
                    meta: params.meta,
                    retry: retry.as_ref(),
                    session: None,
                    progress,
                };
                return self.call(tool, request).await;
            }
            Method::Get | Method::Update | Method::Cancel => {}
        }
        needs_tasks(message, capabilities)?;
        let id = task_id(params.task_id)?;
        if matches!(method, Method::Get) {
            let task = self.runtime.get(&id, caller).await?;
            story::request_is_about(&id);
            return Ok(task.to_detailed_json(self.runtime.server_info()));
        }
        if matches!(method, Method::Update) {
            let answers = answers(params.input_responses, self.runtime.limits())?;
            self.runtime.update(&id, caller, &answers).await?;
        } else {
            self.runtime.cancel(&id, caller).await?;
        }
        story::request_is_about(&id);
        Ok(self.acknowledgement())
    }

    async fn call(&self, tool: &Tool, call: CallRequest<'_>) -> Result<String, ProtocolError> {
        let server_info = self.runtime.server_info();
        Ok(match self.runtime.call(tool, call).await? {
            Called::Task(task) => {
                story::request_is_about(&task.id);
                task.to_created_json(server_info)
            }
            Called::Result(result) => with_meta(&result, server_info),
            Called::InputRequired(required) => input_required(&required, server_info),
        })
    }

    /// What `tasks/update` and `tasks/cancel` return (P13).
    fn acknowledgement(&self) -> String {
        let empty = RawValue::from_string(r#"{"resultType":"complete"}"#.to_owned())
            .expect("this is an object");
        with_meta(&empty, self.runtime.server_info())
    }
}

impl Method<'_> {
    /// The span of a request of it.
    fn span(&self) -> Span {
        let (name, tool) = match self {
            Self::Call(tool) => ("tools/call", Some(tool.name())),
            Self::Nameless(_) => ("tools/call", None),
            Self::Get => ("tasks/get", None),
            Self::Update => ("tasks/update", None),
            Self::Cancel => ("tasks/cancel", None),
            Self::Unknown => ("tasks/*", None),
        };
        story::request_span(name, tool)
    }
}

enum Method<'a> {
    Call(&'a Tool),
    /// A call that names no tool, and what is wrong with it.
    Nameless(&'static str),
    Get,
    Update,
    Cancel,
    Unknown,
}

/// Refuses a request that needs the extension and does not declare it (P6).
fn needs_tasks(message: &Message<'_>, capabilities: Capabilities) -> Result<(), ProtocolError> {
    if capabilities.tasks {
        return Ok(());
    }
    Err(ProtocolError::tasks_required(format!(
        "`{}` needs the extension `{}`: declare it in this request's `_meta`, under \
         `{}`, as `extensions`",
        message.method(),
        crate::protocol::TASKS_EXTENSION,
        crate::protocol::META_CLIENT_CAPABILITIES,
    )))
}

fn task_id(raw: Option<&RawValue>) -> Result<TaskId, ProtocolError> {
    let raw = raw.ok_or_else(|| ProtocolError::invalid_params("`taskId` is missing"))?;
    let id = text(raw).ok_or_else(|| ProtocolError::invalid_params("`taskId` must be a string"))?;
    Ok(TaskId::from_text(&id))
}

/// The `InputRequiredResult` of a call (P60).
fn input_required(required: &InputRequired, server_info: &Value) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InputRequiredResult<'a> {
        result_type: &'static str,
        #[serde(serialize_with = "in_order")]
        input_requests: &'a [(InputKey, InputRequest)],
        request_state: &'a str,
        #[serde(rename = "_meta")]
        meta: Meta<'a>,
    }
    let result = InputRequiredResult {
        result_type: "input_required",
        input_requests: &required.requests,
        request_state: &required.state,
        meta: Meta {
            server_info,
            progress: None,
            subscription_id: None,
        },
    };
    serde_json::to_string(&result).expect("questions and a state are JSON")
}

fn in_order<S: Serializer>(
    requests: &[(InputKey, InputRequest)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(requests.iter().map(|(key, request)| (key, request)))
}

/// Adds who answers to a recorded result, which is an object and not empty (P16).
fn with_meta(result: &RawValue, server_info: &Value) -> String {
    let meta = Meta {
        server_info,
        progress: None,
        subscription_id: None,
    };
    if result.get().contains("\"_meta\"")
        && let Some(joined) = with_own_meta(result, &meta)
    {
        return joined;
    }
    let meta = serde_json::to_string(&meta).expect("a name and a version are JSON");
    let inner = result.get().trim_end();
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    format!(r#"{inner},"_meta":{meta}}}"#)
}

/// The same for a result that has a `_meta` of its own; `None` if it has not.
fn with_own_meta(result: &RawValue, meta: &Meta<'_>) -> Option<String> {
    let mut members: indexmap::IndexMap<String, &RawValue> = object(result).ok()?;
    let mut own: serde_json::Map<String, Value> = object(members.get("_meta")?).ok()?;
    if let Ok(Value::Object(ours)) = serde_json::to_value(meta) {
        own.extend(ours);
    }
    let own = serde_json::value::to_raw_value(&own).ok()?;
    members.insert("_meta".to_owned(), &own);
    serde_json::to_string(&members).ok()
}
