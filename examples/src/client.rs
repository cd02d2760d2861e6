//! The requests of MCP `2026-07-28` and its Tasks extension that a client needs
//! to call a tool, follow the task and answer its questions.

use std::borrow::Cow;
use std::time::Duration;

use indexmap::IndexMap;
use mcp_tasks::protocol::{
    Form, InputRequest, META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, META_SERVER_INFO,
    PROTOCOL_VERSION, ProtocolError, TASKS_EXTENSION, TaskStatus,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Error;
use crate::answers::{Answer, Question};
use crate::connection::Connection;

const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// A client that declares elicitation by forms, and the Tasks extension.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    meta: Value,
}

/// What a server says of itself.
#[derive(Debug)]
pub struct Server {
    /// Its name and version.
    pub name: String,
    /// Whether a call of its tools may become a task.
    pub has_tasks: bool,
}

/// What a tool call returned.
#[derive(Debug)]
pub enum Called {
    /// The call became a task.
    Task(Box<Task>),
    /// It is done already.
    Result(ToolResult),
}

/// A task, as it was when it was looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub task_id: String,
    /// Its state.
    pub status: TaskStatus,
    /// What it is doing, or why it ended as it did.
    pub status_message: Option<String>,
    /// How long it is kept from its creation on; `None` for no limit.
    pub ttl_ms: Option<u64>,
    /// How long to wait before looking again.
    pub poll_interval_ms: Option<u64>,
    /// Its open questions by key, in the server's order.
    #[serde(default)]
    pub input_requests: IndexMap<String, InputRequest>,
    /// What the call returned, once the task is `completed`.
    pub result: Option<ToolResult>,
    /// What the call failed with, once the task is `failed`.
    pub error: Option<ProtocolError>,
}

/// The result of a tool call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Blocks for a reader.
    #[serde(default)]
    pub content: Vec<Value>,
    /// The same for programs, as it came.
    pub structured_content: Option<Box<RawValue>>,
    /// Whether the tool ran and failed.
    #[serde(default)]
    pub is_error: bool,
}

#[derive(Serialize)]
struct WithMeta<'a, P> {
    #[serde(flatten)]
    params: P,
    #[serde(rename = "_meta")]
    meta: &'a Value,
}

impl Client {
    /// A client of this name and version.
    pub fn new(connection: Connection, name: &str, version: &str) -> Self {
        // Nothing is agreed once and for all: every request says this again.
        let meta = json!({
            META_PROTOCOL_VERSION: PROTOCOL_VERSION,
            META_CLIENT_INFO: { "name": name, "version": version },
            META_CLIENT_CAPABILITIES: {
                "elicitation": {},
                "extensions": { TASKS_EXTENSION: {} },
            },
        });
        Self { connection, meta }
    }

    /// Asks a server what it is: `server/discover`.
    pub async fn discover(&mut self) -> Result<Server, Error> {
        #[derive(Serialize)]
        struct Params {}
        #[derive(Deserialize)]
        struct Discovered {
            capabilities: Capabilities,
            #[serde(default, rename = "_meta")]
            meta: Value,
        }
        #[derive(Deserialize)]
        struct Capabilities {
            #[serde(default)]
            extensions: IndexMap<String, Value>,
        }
        let method = "server/discover";
        let result = self.request(method, Params {}).await?;
        let discovered: Discovered = complete(method, &result)?;
        let info = &discovered.meta[META_SERVER_INFO];
        let text = |member: &str| info[member].as_str().unwrap_or_default().to_owned();
        Ok(Server {
            name: format!("{} {}", text("name"), text("version")),
            has_tasks: discovered
                .capabilities
                .extensions
                .contains_key(TASKS_EXTENSION),
        })
    }

    /// Calls a tool: `tools/call`. Whether that becomes a task is for the server
    /// to say.
    pub async fn call_tool(
        &mut self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<Called, Error> {
        #[derive(Serialize)]
        struct Params<'a, A> {
            name: &'a str,
            arguments: A,
        }
        let method = "tools/call";
        let result = self.request(method, Params { name, arguments }).await?;
        if result_type(method, &result)? == "task" {
            return read(method, &result).map(Box::new).map(Called::Task);
        }
        complete(method, &result).map(Called::Result)
    }

    /// Looks at a task: `tasks/get`.
    pub async fn get_task(&mut self, id: &str) -> Result<Task, Error> {
        let method = "tasks/get";
        let result = self.request(method, TaskId { task_id: id }).await?;
        complete(method, &result)
    }

    /// Answers one question of a task: `tasks/update`.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the code -32602 if the answer does not fit; the
    /// question is still open then.
    pub async fn answer(&mut self, id: &str, key: &str, answer: &Answer) -> Result<(), Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            task_id: &'a str,
            input_responses: IndexMap<&'a str, &'a Answer>,
        }
        #[derive(Deserialize)]
        struct Acknowledged {}
        let method = "tasks/update";
        let params = Params {
            task_id: id,
            input_responses: IndexMap::from([(key, answer)]),
        };
        let result = self.request(method, params).await?;
        complete(method, &result).map(|Acknowledged {}| ())
    }

    async fn request(
        &mut self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Box<RawValue>, Error> {
        let params = WithMeta {
            params,
            meta: &self.meta,
        };
        self.connection.request(method, params).await
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskId<'a> {
    task_id: &'a str,
}

impl Task {
    /// How long to wait before looking again: as long as the server says, and
    /// never so short that a mistake of its would keep both sides busy.
    pub fn poll_interval(&self) -> Duration {
        const DEFAULT: u64 = 1000;
        const FLOOR: u64 = 20;
        Duration::from_millis(self.poll_interval_ms.unwrap_or(DEFAULT).max(FLOOR))
    }
}

/// Reads what a task asks for.
///
/// # Errors
///
/// [`Error::NotOffered`] for anything but a form, which is all that [`Client`]
/// declares.
pub fn question(key: &str, request: &InputRequest) -> Result<Question, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Mode {
        #[serde(default = "form")]
        mode: Cow<'static, str>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        message: String,
        requested_schema: Form,
    }
    fn form() -> Cow<'static, str> {
        "form".into()
    }
    let method = request.method.as_ref();
    if method != "elicitation/create" {
        return Err(Error::NotOffered(format!("`{method}`, key `{key}`")));
    }
    let Mode { mode } = read(method, &request.params)?;
    if mode != "form" {
        return Err(Error::NotOffered(format!(
            "`{method}` in the mode `{mode}`, key `{key}`"
        )));
    }
    let Params {
        message,
        requested_schema: form,
    } = read(method, &request.params)?;
    Ok(Question {
        key: key.to_owned(),
        message,
        form,
    })
}

/// The kind of a result, which is looked at before anything else in it.
fn result_type(method: &str, result: &RawValue) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "resultType")]
        kind: Option<String>,
    }
    let Kind { kind } = read(method, result)?;
    Ok(kind.unwrap_or_else(|| "complete".to_owned()))
}

fn complete<T: DeserializeOwned>(method: &str, result: &RawValue) -> Result<T, Error> {
    match result_type(method, result)?.as_str() {
        "complete" => read(method, result),
        kind => Err(Error::Unexpected {
            method: method.to_owned(),
            problem: format!("the result is of the type `{kind}`"),
        }),
    }
}

fn read<T: DeserializeOwned>(method: &str, json: &RawValue) -> Result<T, Error> {
    serde_json::from_str(json.get()).map_err(|error| Error::Unexpected {
        method: method.to_owned(),
        problem: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(json: &str) -> InputRequest {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_form_keeps_its_fields_in_order() {
        let asked = request(
            r#"{"method":"elicitation/create","params":{"message":"?","requestedSchema":
               {"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"}}}}}"#,
        );
        let question = question("k", &asked).unwrap();
        let names: Vec<_> = question.form.fields().map(|(name, _)| name).collect();
        assert_eq!(names, ["z", "a"]);
    }

    #[test]
    fn what_was_not_declared_is_not_answered() {
        let url = r#"{"method":"elicitation/create","params":{"mode":"url","message":"?"}}"#;
        let error = question("k", &request(url)).unwrap_err();
        assert!(error.to_string().contains("mode `url`, key `k`"));
        let sampling = r#"{"method":"sampling/createMessage","params":{}}"#;
        let error = question("k", &request(sampling)).unwrap_err();
        assert!(error.to_string().contains("`sampling/createMessage`"));
    }

    #[test]
    fn the_type_of_a_result_is_looked_at_first() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        assert!(complete::<Value>("m", &raw("{}")).is_ok());
        assert!(complete::<Value>("m", &raw(r#"{"resultType":"complete"}"#)).is_ok());
        let error = complete::<ToolResult>("m", &raw(r#"{"resultType":"later"}"#)).unwrap_err();
        assert!(error.to_string().contains("type `later`"));
    }
}
