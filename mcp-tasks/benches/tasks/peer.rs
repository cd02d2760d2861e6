//! The peer: rmcp's task manager, used as its own tests and examples do.

use mcp_tasks::rmcp::ErrorData;
use mcp_tasks::rmcp::model::{
    CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputResponses, TaskStatus,
};
use mcp_tasks::rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use serde::Deserialize;
use serde_json::Value;

use crate::{Seen, Side, Status};

/// Rmcp keeps an ended task for once more its ttl, so that what is measured
/// must not live long: else the ended ones would slow it down.
const SHORT_TTL_MS: u64 = 2;
/// Beside many others it takes a while even so.
const SHORT_TTL_BESIDE_MANY_MS: u64 = 50;
const LONG_TTL_MS: u64 = 24 * 60 * 60 * 1000;

pub(crate) struct Peer {
    manager: TaskManager,
    short_ttl_ms: u64,
    seen: Seen,
}

impl Peer {
    pub(crate) fn new() -> Self {
        Self {
            manager: TaskManager::new(),
            short_ttl_ms: SHORT_TTL_MS,
            seen: Seen::default(),
        }
    }

    pub(crate) fn beside_many() -> Self {
        Self {
            short_ttl_ms: SHORT_TTL_BESIDE_MANY_MS,
            ..Self::new()
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    greeting: String,
}

async fn wait(
    context: TaskContext,
    arguments: Arguments,
    seen: Seen,
) -> Result<CallToolResult, TaskExit> {
    let requested_schema = ElicitationSchema::builder()
        .required_string("answer")
        .build()
        .map_err(|error| ErrorData::internal_error(error, None))?;
    let request = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("{}! What is your name?", arguments.greeting),
        requested_schema,
    });
    let response = context
        .request_input("text", InputRequest::Elicitation(request))
        .await?;
    // What came is anything: whether it was accepted, and with which content,
    // is the function's own affair.
    let elicited: ElicitResult = serde_json::from_value(response)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    let text = match (elicited.action, elicited.content) {
        (ElicitationAction::Accept, Some(Value::Object(mut fields))) => fields.remove("answer"),
        _ => None,
    };
    let Some(Value::String(text)) = text else {
        return Err(ErrorData::invalid_params("not answered", None).into());
    };
    seen.now();
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

impl Side for Peer {
    type Id = String;

    async fn create(&self, arguments: &str, lasting: bool) -> String {
        let arguments: Arguments = serde_json::from_str(arguments).expect("these are arguments");
        let ttl = if lasting {
            LONG_TTL_MS
        } else {
            self.short_ttl_ms
        };
        let options = TaskOptions::new().with_ttl_ms(ttl);
        let seen = self.seen.clone();
        let spawned = self
            .manager
            .spawn(options, |context| Box::pin(wait(context, arguments, seen)));
        spawned.task_id
    }

    fn incoming(id: &String) -> String {
        id.clone()
    }

    async fn get(&self, id: &String) -> Status {
        match self.manager.get_task(id) {
            Ok(task) => match task.status() {
                TaskStatus::Working => Status::Working,
                TaskStatus::InputRequired => Status::Asking,
                TaskStatus::Completed => Status::Completed,
                _ => Status::Other,
            },
            Err(_) => Status::Other,
        }
    }

    async fn update(&self, id: &String, input_responses: &str) {
        let responses: InputResponses =
            serde_json::from_str(input_responses).expect("this is JSON");
        // A task that has expired meanwhile shows in the next status.
        self.manager.update_task(id, responses).ok();
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }
}
