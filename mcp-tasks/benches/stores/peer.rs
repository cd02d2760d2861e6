//! The peer: rmcp's task manager, used as its own tests and examples do, by itself
//! and in a server of rmcp's.

use mcp_tasks::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult,
    ElicitRequest, ElicitRequestParams, ElicitationSchema, GetTaskParams, GetTaskResult,
    InputRequest, InputResponses, ServerCapabilities, ServerConfig, TaskStatus,
};
use mcp_tasks::rmcp::service::{RequestContext, RoleServer};
use mcp_tasks::rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use mcp_tasks::rmcp::{ErrorData, ServerHandler};
use serde::Deserialize;
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::{Duration, sleep};

use crate::engine::{ANSWER, KEY};
use crate::rounds::Side;

/// Rmcp looks at all tasks there are on every call, and keeps those that have ended
/// for once more their ttl: they must not live for long.
const SHORT_TTL_MS: u64 = 20;
const LONG_TTL_MS: u64 = 24 * 60 * 60 * 1000;

#[derive(Clone, Default)]
pub(crate) struct Peer {
    tasks: TaskManager,
}

/// Who is to be greeted, or what deployed.
#[derive(Deserialize)]
struct Arguments {
    service: String,
}

/// What our engine's function of this name does.
async fn deploy(task: TaskContext, arguments: Arguments) -> Result<CallToolResult, TaskExit> {
    let service = arguments.service;
    let requested_schema = ElicitationSchema::builder()
        .required_bool("approve")
        .optional_integer("percent", 1, 100)
        .build()
        .map_err(|error| ErrorData::internal_error(error, None))?;
    let request = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Deploy {service}? Release 41 is replaced by release 42 on 12 machines"),
        requested_schema,
    });
    let answer = task
        .request_input(KEY, InputRequest::Elicitation(request))
        .await?;
    // What came is anything: to judge it is the function's own affair.
    let content = &answer["content"];
    let given = content["approve"]
        .as_bool()
        .zip(content["percent"].as_u64());
    let Some((approve, percent)) = given.filter(|_| answer["action"] == "accept") else {
        return Err(ErrorData::invalid_params("not answered", None).into());
    };
    let text = format!("{service} is out at {percent}%: {approve}");
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

impl Peer {
    fn spawn(&self, ttl_ms: u64) -> String {
        let arguments: Arguments =
            serde_json::from_str(r#"{"service":"billing"}"#).expect("these are arguments");
        let options = TaskOptions::new().with_ttl_ms(ttl_ms);
        let spawned = self
            .tasks
            .spawn(options, |task| Box::pin(deploy(task, arguments)));
        spawned.task_id
    }

    fn status(&self, id: &str) -> Option<TaskStatus> {
        let task = self.tasks.get_task(id).ok()?;
        Some(task.status())
    }
}

impl Side for Peer {
    type Id = String;

    async fn fill(&self, count: usize) -> Vec<String> {
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            ids.push(self.spawn(LONG_TTL_MS));
            yield_now().await;
        }
        ids
    }

    fn incoming(id: &String) -> String {
        id.clone()
    }

    async fn create(&self) -> String {
        self.spawn(SHORT_TTL_MS)
    }

    async fn asked(&self, id: &String) -> bool {
        while self.status(id) == Some(TaskStatus::Working) {
            yield_now().await;
        }
        self.status(id) == Some(TaskStatus::InputRequired)
    }

    async fn get(&self, id: &String) {
        std::hint::black_box(self.status(id));
    }

    async fn answer(&self, id: &String) {
        let text = format!("{{\"{KEY}\":{ANSWER}}}");
        let responses: InputResponses = serde_json::from_str(&text).expect("this is JSON");
        // A task that has expired meanwhile shows in the next status.
        self.tasks.update_task(id, responses).ok();
    }

    async fn finished(&self, id: &String) -> bool {
        let mut status = Some(TaskStatus::Working);
        while matches!(
            status,
            Some(TaskStatus::Working | TaskStatus::InputRequired)
        ) {
            yield_now().await;
            status = self.status(id);
        }
        status == Some(TaskStatus::Completed)
    }

    async fn settle(&self) {
        sleep(Duration::from_millis(2 * SHORT_TTL_MS + 2)).await;
    }
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(capabilities.enable_tasks().build())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        let arguments: Arguments = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let options = TaskOptions::new().with_ttl_ms(SHORT_TTL_MS);
        let task = self.tasks.spawn(options, |_| {
            Box::pin(async move {
                let text = format!("{} is up", arguments.service);
                Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
            })
        });
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&params.task_id)?))
    }
}
