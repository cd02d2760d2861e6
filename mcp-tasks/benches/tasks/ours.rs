//! Our side: the runtime with the memory store.

use std::time::Duration;

use indexmap::IndexMap;
use mcp_tasks::prelude::*;
use mcp_tasks::protocol::{Capabilities, ElicitationModes, TaskStatus};
use mcp_tasks::runtime::{CallRequest, Called, Runtime};
use mcp_tasks::task::{Answer, InputKey, TaskId};
use mcp_tasks::{Caller, Limits};
use serde_json::value::RawValue;

use crate::{Seen, Side, Status};

#[mcp_task(ttl = "24h")]
async fn wait(greeting: String, State(seen): State<Seen>) -> Result<String, ToolError> {
    let text: String = ask_user(format!("{greeting}! What is your name?")).await?;
    seen.now();
    Ok(text)
}

pub(crate) struct Ours {
    runtime: Runtime,
    caller: Caller,
    seen: Seen,
}

impl Ours {
    pub(crate) fn new() -> Self {
        let seen = Seen::default();
        let runtime = Runtime::builder("bench", "1")
            .state(seen.clone())
            .task(wait)
            .limits(Limits::default())
            .retention(Duration::from_millis(1))
            .build()
            .expect("one tool and its state");
        Self {
            runtime,
            caller: Caller::anonymous(),
            seen,
        }
    }
}

impl Side for Ours {
    type Id = TaskId;

    async fn create(&self, arguments: &str, _lasting: bool) -> TaskId {
        let arguments: &RawValue = serde_json::from_str(arguments).expect("this is JSON");
        let tool = self.runtime.tool("wait").expect("it was registered");
        let call = CallRequest {
            arguments: Some(arguments),
            caller: &self.caller,
            capabilities: Capabilities {
                tasks: true,
                elicitation: ElicitationModes {
                    form: true,
                    url: false,
                },
                ..Capabilities::default()
            },
            client: None,
            meta: None,
            retry: None,
            session: None,
            progress: None,
        };
        match self.runtime.call(tool, call).await {
            Ok(Called::Task(task)) => task.id.clone(),
            other => panic!("not a task: {other:?}"),
        }
    }

    fn incoming(id: &TaskId) -> TaskId {
        TaskId::from_text(id.as_str())
    }

    async fn get(&self, id: &TaskId) -> Status {
        match self.runtime.get(id, &self.caller).await {
            Ok(task) => match task.status() {
                TaskStatus::Working => Status::Working,
                TaskStatus::InputRequired => Status::Asking,
                TaskStatus::Completed => Status::Completed,
                _ => Status::Other,
            },
            Err(_) => Status::Other,
        }
    }

    async fn update(&self, id: &TaskId, input_responses: &str) {
        // As the router does it.
        let responses: IndexMap<String, &RawValue> =
            serde_json::from_str(input_responses).expect("this is JSON");
        let answers: Vec<Answer<'_>> = responses
            .into_iter()
            .map(|(key, response)| Answer {
                key: InputKey::new(key),
                response,
            })
            .collect();
        let updated = self.runtime.update(id, &self.caller, &answers).await;
        updated.expect("the answer fits");
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }
}
