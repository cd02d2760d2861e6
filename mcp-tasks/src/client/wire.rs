//! What servers reply, read from its text: the type of a result is looked at
//! before anything else in it (P80).

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ClientError, Progress, QuestionKind};
use crate::protocol::{ContentBlock, META_PROGRESS, ProtocolError, TaskStatus, ToolResult};

const CALL: &str = "tools/call";

/// What a tool call returned.
#[derive(Debug)]
pub(super) enum Called {
    /// It is done.
    Result(ToolResult),
    /// It wants answers, and to be called again (P60).
    Round(Round),
    /// It is a task (P10).
    Task(Box<TaskSeen>),
}

/// What is needed for the next round of a call.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) questions: Vec<(Arc<str>, QuestionKind)>,
    /// Handed back as it came.
    pub(super) state: Option<Box<RawValue>>,
}

/// A task, as the server showed it.
#[derive(Debug)]
pub(super) struct TaskSeen {
    pub(super) id: Arc<str>,
    pub(super) status: TaskStatus,
    pub(super) message: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<DateTime<FixedOffset>>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) poll_interval: Option<Duration>,
    pub(super) progress: Option<Progress>,
    pub(super) questions: Vec<(Arc<str>, QuestionKind)>,
    pub(super) result: Option<ToolResult>,
    pub(super) error: Option<ProtocolError>,
}

/// Reads the reply to `tools/call`. A task is one of the things that it may be
/// only if the request declared that.
pub(super) fn called(reply: &RawValue, tasks_declared: bool) -> Result<Called, ClientError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        #[serde(default)]
        input_requests: Requests,
        request_state: Option<Box<RawValue>>,
    }
    let method = CALL;
    match result_type(method, reply)?.as_str() {
        "complete" => tool_result(method, reply).map(Called::Result),
        "input_required" => {
            let asked: Asked = read(method, reply)?;
            if asked.input_requests.0.is_empty() && asked.request_state.is_none() {
                return Err(unexpected(
                    method,
                    "it requires input, and says neither which nor for what",
                ));
            }
            Ok(Called::Round(Round {
                questions: asked.input_requests.questions(),
                state: asked.request_state,
            }))
        }
        "task" if tasks_declared => task_of(method, reply).map(Box::new).map(Called::Task),
        "task" => Err(unexpected(
            method,
            "it is a task, which this request did not allow",
        )),
        other => Err(unknown_type(method, other)),
    }
}

/// Reads the reply to `tasks/get`.
pub(super) fn task(reply: &RawValue) -> Result<TaskSeen, ClientError> {
    let method = "tasks/get";
    match result_type(method, reply)?.as_str() {
        "complete" => task_of(method, reply),
        other => Err(unknown_type(method, other)),
    }
}

/// Reads the parameters of `notifications/tasks`, which have no type (P41).
pub(super) fn notified(params: &RawValue) -> Result<TaskSeen, ClientError> {
    task_of("notifications/tasks", params)
}

/// Reads an acknowledgement (P13).
pub(super) fn acknowledged(method: &str, reply: &RawValue) -> Result<(), ClientError> {
    match result_type(method, reply)?.as_str() {
        "complete" => Ok(()),
        other => Err(unknown_type(method, other)),
    }
}

/// Reads a complete result of any kind.
pub(super) fn complete<T: DeserializeOwned>(
    method: &str,
    reply: &RawValue,
) -> Result<T, ClientError> {
    acknowledged(method, reply)?;
    read(method, reply)
}

fn result_type(method: &str, reply: &RawValue) -> Result<String, ClientError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Type {
        result_type: Option<String>,
    }
    let Type { result_type } = read(method, reply)?;
    Ok(result_type.unwrap_or_else(|| "complete".to_owned()))
}

fn task_of(method: &str, reply: &RawValue) -> Result<TaskSeen, ClientError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Task {
        #[serde(rename = "taskId")]
        id: String,
        status: TaskStatus,
        status_message: Option<String>,
        created_at: Option<String>,
        last_updated_at: Option<String>,
        ttl_ms: Option<f64>,
        poll_interval_ms: Option<f64>,
        #[serde(default)]
        input_requests: Requests,
        result: Option<Box<RawValue>>,
        error: Option<ProtocolError>,
        #[serde(rename = "_meta")]
        meta: Option<Map<String, Value>>,
    }
    let task: Task = read(method, reply)?;
    let result = task.result.filter(|_| task.status == TaskStatus::Completed);
    let result = result.map(|result| match result_type(method, &result)?.as_str() {
        "complete" => tool_result(method, &result),
        other => Err(unknown_type(method, other)),
    });
    let result = result.transpose()?;
    let missing = |what| {
        Err(unexpected(
            method,
            format!("a task with the status `{what}` without its outcome"),
        ))
    };
    // The reply to a call never has it (P10), even if the task has ended meanwhile.
    if method != CALL {
        match task.status {
            TaskStatus::Completed if result.is_none() => return missing("completed"),
            TaskStatus::Failed if task.error.is_none() => return missing("failed"),
            _ => {}
        }
    }
    Ok(TaskSeen {
        id: task.id.into(),
        status: task.status,
        message: task.status_message,
        created_at: task.created_at,
        updated_at: task
            .last_updated_at
            .and_then(|at| DateTime::parse_from_rfc3339(&at).ok()),
        ttl_ms: task.ttl_ms.map(whole),
        poll_interval: task.poll_interval_ms.map(whole).map(Duration::from_millis),
        progress: task
            .meta
            .as_ref()
            .and_then(|meta| progress(meta.get(META_PROGRESS)?)),
        questions: task.input_requests.questions(),
        result,
        error: task.error,
    })
}

/// Milliseconds, whatever kind of number a server writes them as.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion that saturates is what is meant"
)]
fn whole(milliseconds: f64) -> u64 {
    milliseconds as u64
}

fn progress(meta: &Value) -> Option<Progress> {
    Some(Progress {
        done: meta.get("done")?.as_f64()?,
        total: meta.get("total").and_then(Value::as_f64),
    })
}

fn tool_result(method: &str, reply: &RawValue) -> Result<ToolResult, ClientError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Read {
        // `null` is what some servers write for what there is not.
        content: Option<Vec<ContentBlock>>,
        structured_content: Option<Box<RawValue>>,
        is_error: Option<bool>,
        #[serde(rename = "_meta")]
        meta: Option<Map<String, Value>>,
    }
    let result: Read = read(method, reply)?;
    Ok(ToolResult {
        content: result.content.unwrap_or_default(),
        structured: result.structured_content.map(Arc::from),
        is_error: result.is_error.unwrap_or_default(),
        meta: result.meta.unwrap_or_default(),
    })
}

/// Input requests by key, in the server's order.
#[derive(Debug, Default)]
struct Requests(IndexMap<String, Request>);

#[derive(Debug, Deserialize)]
struct Request {
    method: String,
    #[serde(default)]
    params: Option<Arc<RawValue>>,
}

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let requests = Option::<IndexMap<String, Request>>::deserialize(deserializer)?;
        Ok(Self(requests.unwrap_or_default()))
    }
}

impl Requests {
    fn questions(self) -> Vec<(Arc<str>, QuestionKind)> {
        let read = |(key, request): (String, Request)| {
            let kind = QuestionKind::read(&request.method, request.params.as_ref());
            (key.into(), kind)
        };
        self.0.into_iter().map(read).collect()
    }
}

fn read<T: DeserializeOwned>(method: &str, json: &RawValue) -> Result<T, ClientError> {
    serde_json::from_str(json.get()).map_err(|error| unexpected(method, error.to_string()))
}

fn unexpected(method: &str, problem: impl Into<String>) -> ClientError {
    ClientError::Unexpected {
        method: method.to_owned(),
        problem: problem.into(),
    }
}

fn unknown_type(method: &str, kind: &str) -> ClientError {
    unexpected(
        method,
        format!("the result is of the type `{kind}`, which has no meaning here"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn the_type_of_a_result_decides_what_it_is() {
        let reply = raw(r#"{"content":[{"type":"text","text":"a"}]}"#);
        assert!(matches!(called(&reply, true), Ok(Called::Result(_))));
        for (json, expected) in [
            (r#"{"resultType":"later"}"#, "type `later`"),
            (r#"{"resultType":"input_required"}"#, "neither which"),
            (
                r#"{"resultType":"task","taskId":"a","status":"working"}"#,
                "did not allow",
            ),
        ] {
            let error = called(&raw(json), false).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let reply = raw(r#"{"resultType":"task","taskId":"a","status":"working","ttlMs":null}"#);
        assert!(matches!(called(&reply, true), Ok(Called::Task(_))));
        let error = task(&reply).unwrap_err().to_string();
        assert!(error.contains("type `task`"), "{error}");
    }

    #[test]
    fn what_is_null_is_not_there() {
        let reply = raw(r#"{"content":null,"structuredContent":null,"isError":null,"_meta":null}"#);
        let Ok(Called::Result(result)) = called(&reply, false) else {
            panic!("no result");
        };
        assert!(result.content.is_empty() && !result.is_error);
        let reply = raw(
            r#"{"taskId":"a","status":"working","statusMessage":null,"ttlMs":null,
                "pollIntervalMs":null,"inputRequests":null,"result":null,"error":null,"_meta":null}"#,
        );
        assert_eq!(task(&reply).unwrap().status, TaskStatus::Working);
    }

    #[test]
    fn a_call_may_become_a_task_that_has_ended_already() {
        for status in ["completed", "failed", "cancelled"] {
            let json = format!(r#"{{"resultType":"task","taskId":"a","status":"{status}"}}"#);
            assert!(matches!(called(&raw(&json), true), Ok(Called::Task(_))));
        }
    }

    #[test]
    fn a_task_that_has_ended_has_its_outcome() {
        for status in ["completed", "failed"] {
            let json = format!(r#"{{"taskId":"a","status":"{status}"}}"#);
            let error = task(&raw(&json)).unwrap_err().to_string();
            assert!(error.contains("without its outcome"), "{error}");
        }
        let error = task(&raw(r#"{"taskId":"a","status":"sleeping"}"#)).unwrap_err();
        assert!(error.to_string().contains("sleeping"), "{error}");
    }

    #[test]
    fn what_is_structured_is_kept_as_it_was_written() {
        let reply = raw(r#"{"structuredContent":{"z":1.50,"a":2}}"#);
        let Ok(Called::Result(result)) = called(&reply, false) else {
            panic!("no result");
        };
        assert_eq!(result.structured.unwrap().get(), r#"{"z":1.50,"a":2}"#);
    }
}
