//! A server that is rmcp's alone: its task manager, its rounds, its sessions, and
//! nothing of this crate's. What our client is told by it nobody here has shaped.
//!
//! `rmcp_server (--stdio | --http ADDRESS) [--older]`; with `--older` it speaks
//! 2025-11-25 at most.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CreateTaskResult, ElicitRequest, ElicitRequestParams, GetTaskParams, GetTaskResult,
    Implementation, InputRequest, InputRequests, InputRequiredResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

const TOOLS: [&str; 11] = [
    "plain", "fails", "count", "greet", "shed", "sum", "ask", "ask_both", "breaks", "endless",
    "stubborn",
];

#[derive(Clone, Default)]
struct Theirs {
    tasks: TaskManager,
    is_older: bool,
}

fn text(words: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(words)])
}

fn question(message: &str) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(json!({
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"],
        }))
        .expect("a form"),
    }
}

fn request(message: &str) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(question(message)))
}

/// The name in an answer, or what was done instead of giving one.
fn name(answer: &Value) -> String {
    let name = answer["content"]["name"].as_str();
    name.or(answer["action"].as_str())
        .unwrap_or_default()
        .to_owned()
}

async fn work(
    tool: String,
    arguments: Value,
    task: TaskContext,
) -> Result<CallToolResult, TaskExit> {
    match &*tool {
        "sum" => {
            task.set_status_message("adding");
            tokio::time::sleep(Duration::from_millis(150)).await;
            let sum = arguments["a"].as_i64().zip(arguments["b"].as_i64());
            let (a, b) = sum.ok_or_else(|| ErrorData::invalid_params("a and b", None))?;
            Ok(CallToolResult::structured(json!({ "sum": a + b })))
        }
        "ask" => {
            let first = task.request_input("first", request("First?")).await?;
            let second = task.request_input("second", request("Second?")).await?;
            Ok(text(format!("{} {}", name(&first), name(&second))))
        }
        "ask_both" => {
            let (left, right) = tokio::try_join!(
                task.request_input("left", request("Left?")),
                task.request_input("right", request("Right?")),
            )?;
            Ok(text(format!("{} {}", name(&left), name(&right))))
        }
        "breaks" => {
            let data = Some(json!({ "why": "because" }));
            Err(ErrorData::internal_error("it broke", data).into())
        }
        "endless" => {
            task.cancelled().await;
            Err(TaskExit::Cancelled)
        }
        // Stubborn: it is asked to stop, and finishes.
        _ => {
            task.cancelled().await;
            Ok(text("finished all the same"))
        }
    }
}

impl Theirs {
    /// Asks in rounds, or under an older session while the call is open.
    async fn greet(
        &self,
        call: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.is_older {
            let answer = context
                .peer
                .create_elicitation(question("Who?"))
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let answer = serde_json::to_value(answer).expect("it came as JSON");
            return Ok(text(format!("Hello, {}", name(&answer))).into());
        }
        let Some(answers) = call.input_responses else {
            let questions = InputRequests::from_iter([("who".to_owned(), request("Who?"))]);
            let state = Some("st.ate with \"quotes\"\n".to_owned());
            return Ok(InputRequiredResult::new(Some(questions), state).into());
        };
        if call.request_state.as_deref() != Some("st.ate with \"quotes\"\n") {
            return Err(ErrorData::invalid_params("the state is another", None));
        }
        Ok(text(format!("Hello, {}", name(&answers["who"]))).into())
    }

    async fn count(&self, context: &RequestContext<RoleServer>) -> CallToolResult {
        let Some(token) = context.meta.get_progress_token() else {
            return text("nobody listens");
        };
        for (done, words) in [(1.0, "one"), (2.0, "two"), (3.0, "three")] {
            let progress = ProgressNotificationParam::new(token.clone(), done)
                .with_total(3.0)
                .with_message(words);
            // That the client has gone ends the call.
            let _ = context.peer.notify_progress(progress).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        text("counted")
    }
}

impl ServerHandler for Theirs {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = if self.is_older {
            capabilities.build()
        } else {
            capabilities.enable_tasks().build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("theirs", "3"))
            .with_instructions("Be kind.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        const OLDER: &[ProtocolVersion] =
            &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];
        if self.is_older {
            return Cow::Borrowed(OLDER);
        }
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object" });
        let schema = Arc::new(schema.as_object().expect("an object").clone());
        let tools = TOOLS.map(|name| Tool::new(name, name, Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*call.name {
            "plain" => Ok(text("plain").into()),
            "fails" => Ok(CallToolResult::error(vec![ContentBlock::text("no way")]).into()),
            "count" => Ok(self.count(&context).await.into()),
            "greet" => self.greet(call, &context).await,
            "shed" => match call.request_state.as_deref() {
                None => Ok(InputRequiredResult::from_request_state("1").into()),
                Some("1") => Ok(InputRequiredResult::from_request_state("2").into()),
                Some(_) => Ok(text("at last").into()),
            },
            tool if TOOLS.contains(&tool) => {
                let arguments = Value::Object(call.arguments.unwrap_or_default());
                let tool = tool.to_owned();
                let options = TaskOptions::new().with_poll_interval_ms(200);
                let task = self
                    .tasks
                    .spawn(options, move |task| Box::pin(work(tool, arguments, task)));
                Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
            }
            tool => Err(ErrorData::invalid_params(format!("no tool {tool}"), None)),
        }
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&params.task_id)?))
    }

    async fn update_task(
        &self,
        params: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks
            .update_task(&params.task_id, params.input_responses)
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&params.task_id)
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let server = Theirs {
        is_older: arguments.iter().any(|argument| argument == "--older"),
        ..Theirs::default()
    };
    let flag = arguments.iter().position(|argument| argument == "--http");
    let Some(address) = flag.and_then(|flag| arguments.get(flag + 1)) else {
        let wire = (tokio::io::stdin(), tokio::io::stdout());
        let Ok(running) = server.serve(wire).await else {
            // The client has thought better of it.
            return;
        };
        running.waiting().await.expect("it ends");
        return;
    };
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(address).await;
    let listener = listener.expect("the address is free");
    let address = listener.local_addr().expect("it is bound");
    eprintln!("listening on http://{address}/mcp");
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await.expect("it serves");
}
