//! An existing rmcp server gains a task tool: what it had keeps working, for
//! rmcp's own client in both lifecycles, and the tool is a task for ours.

use mcp_tasks::prelude::*;
use mcp_tasks_tests::{Client, Declares};
use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorCode, GetPromptRequestParams, Implementation,
    ListResourcesResult, PaginatedRequestParams, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, ServerNotification,
    SubscriptionFilter,
};
use rmcp::service::{RequestContext, RunningService, ServiceError, SubscriptionContext};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient, RoleServer, ServerHandler,
    prompt, prompt_handler, prompt_router, tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const NOTES: &str = "memo://notes";

/// A server as people have it: tools, a prompt, a resource.
#[derive(Clone)]
struct Office {
    tool_router: ToolRouter<Self>,
    prompt_router: PromptRouter<Self>,
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    left: i64,
    right: i64,
}

#[tool_router]
impl Office {
    fn new() -> Self {
        Self {
            tool_router: Self::tool_router(),
            prompt_router: Self::prompt_router(),
        }
    }

    #[tool(description = "Adds two numbers")]
    async fn add(&self, Parameters(Sum { left, right }): Parameters<Sum>) -> String {
        (left + right).to_string()
    }

    #[tool(description = "Says hello")]
    async fn hello(&self) -> String {
        "hello".to_owned()
    }
}

#[prompt_router]
impl Office {
    #[prompt(description = "A letter")]
    async fn letter(&self) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(Role::User, "Write a letter")]
    }
}

#[tool_handler(router = self.tool_router)]
#[prompt_handler(router = self.prompt_router)]
impl ServerHandler for Office {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("office", "7"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let notes = Resource::new(NOTES, "notes");
        Ok(ListResourcesResult::with_all_items(vec![notes]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = vec![ResourceContents::text("some notes", request.uri)];
        Ok(ReadResourceResult::new(contents).into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let told = context.sink().notify_tool_list_changed().await;
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        context.cancelled().await;
        Ok(())
    }
}

/// Signs a paper, once somebody agrees.
#[mcp_task]
async fn sign(
    /// What to sign
    paper: String,
) -> Result<String, ToolError> {
    let name: String = ask_user(format!("Who signs {paper}?")).await?;
    Ok(format!("{paper}, signed by {name}"))
}

/// Files a paper.
#[mcp_task]
async fn file(
    /// What to file
    paper: String,
) -> String {
    format!("{paper}, filed")
}

/// Archives everything.
#[mcp_task(support = "required")]
async fn archive() -> &'static str {
    "archived"
}

/// Runs the office with tasks inside an axum application; gives its address.
async fn open() -> String {
    let server = TaskServer::wrap(Office::new())
        .task(sign)
        .task(file)
        .task(archive)
        .build()
        .unwrap();
    let application = axum::Router::new()
        .route("/health", axum::routing::get(|| async { "well" }))
        .route_service("/mcp", server.service());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, application).await });
    format!("http://{address}/mcp")
}

/// rmcp's own client.
async fn connect(lifecycle: ClientLifecycleMode) -> RunningService<RoleClient, ()> {
    let transport = StreamableHttpClientTransport::from_uri(open().await);
    ().serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

async fn standalone() -> RunningService<RoleClient, ()> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    connect(ClientLifecycleMode::Discover { preferred_versions }).await
}

async fn session() -> RunningService<RoleClient, ()> {
    connect(ClientLifecycleMode::Initialize).await
}

fn call(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

fn text(result: &CallToolResult) -> String {
    let content = serde_json::to_value(&result.content).unwrap();
    content[0]["text"].as_str().unwrap().to_owned()
}

/// The words of a call that is refused with `-32602`.
fn invalid_params(called: Result<CallToolResult, ServiceError>) -> String {
    match called {
        Err(ServiceError::McpError(error)) => {
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{error:?}");
            error.message.into_owned()
        }
        other => panic!("not refused: {other:?}"),
    }
}

async fn tool_names(client: &RunningService<RoleClient, ()>) -> Vec<String> {
    let tools = client.list_all_tools().await.unwrap();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

/// What the handler has of its own works.
async fn office_works(client: &RunningService<RoleClient, ()>) {
    let sum = client
        .call_tool(call("add", json!({"left": 2, "right": 40})))
        .await;
    assert_eq!(text(&sum.unwrap()), "42");
    let hello = client.call_tool(call("hello", json!({}))).await;
    assert_eq!(text(&hello.unwrap()), "hello");
    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].name, "letter");
    let prompt = client
        .get_prompt(GetPromptRequestParams::new("letter"))
        .await;
    assert_eq!(prompt.unwrap().messages.len(), 1);
    let resources = client.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), 1);
    assert_eq!(resources[0].uri, NOTES);
    let read = client
        .read_resource(ReadResourceRequestParams::new(NOTES))
        .await;
    let read = serde_json::to_value(read.unwrap()).unwrap();
    assert_eq!(read["contents"][0]["text"], "some notes", "{read}");
}

#[tokio::test]
async fn what_the_handler_has_works_under_2026() {
    let client = standalone().await;
    office_works(&client).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = client.listen(filter.clone()).await.unwrap();
    assert_eq!(*subscription.acknowledged(), filter);
    let told = subscription.next().await.unwrap();
    assert!(
        matches!(
            told,
            Some(ServerNotification::ToolListChangedNotification(_))
        ),
        "{told:?}"
    );
    subscription.cancel().await.unwrap();
    let names = tool_names(&client).await;
    assert_eq!(names, ["sign", "file", "archive", "add", "hello"]);
    // This client declares no tasks: the tool runs inline.
    let filed = client.call_tool(call("file", json!({"paper": "A"}))).await;
    assert_eq!(text(&filed.unwrap()), "A, filed");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn what_the_handler_has_works_in_an_older_session() {
    let client = session().await;
    let server = client.peer_info().unwrap();
    let server = serde_json::to_value(&*server).unwrap().to_string();
    assert!(server.contains("office"), "{server}");
    assert!(
        !server.contains("io.modelcontextprotocol/tasks"),
        "{server}"
    );
    office_works(&client).await;
    // A tool that can only be a task is not there, and says so when called.
    let names = tool_names(&client).await;
    assert_eq!(names, ["sign", "file", "add", "hello"]);
    let refused = client.call_tool(call("archive", json!({}))).await;
    let words = invalid_params(refused);
    assert!(
        words.contains("archive") && words.contains("task"),
        "{words}"
    );
    let filed = client.call_tool(call("file", json!({"paper": "A"}))).await;
    assert_eq!(text(&filed.unwrap()), "A, filed");
    let wrong = client.call_tool(call("file", json!({"paper": 7}))).await;
    let words = invalid_params(wrong);
    assert!(words.contains("paper"), "{words}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn the_task_tool_is_a_task() {
    let client = Client::of_url(open().await);
    let id = client.task("sign", json!({"paper": "B"})).await;
    let key = client.until_asked(&id, None).await;
    assert_eq!(key, "name");
    client.answer(&id, &key, "Ada").await;
    assert_eq!(client.until_text(&id).await, "B, signed by Ada");
    let discovered = client.request("server/discover", json!({})).await;
    let capabilities = &discovered.result()["capabilities"];
    for capability in ["tools", "prompts", "resources"] {
        assert!(capabilities[capability].is_object(), "{capabilities}");
    }
    let extension = &capabilities["extensions"]["io.modelcontextprotocol/tasks"];
    assert_eq!(*extension, json!({}));
    assert!(capabilities.get("tasks").is_none(), "{capabilities}");
    // The handler's own tools are never tasks.
    for declares in [Declares::Everything, Declares::Nothing] {
        let sum = client
            .declaring(declares)
            .call("add", json!({"left": 1, "right": 1}))
            .await;
        assert_eq!(sum.tool_text(), "2");
    }
}

#[tokio::test]
async fn the_rest_of_the_application_is_untouched() {
    let url = open().await.replace("/mcp", "/health");
    let client = Client::of_url(url);
    let mut request = client.compose("x", json!({}));
    *request.method_mut() = http::Method::GET;
    let reply = client.send_http(request).await;
    assert_eq!((reply.status, reply.text.as_str()), (Some(200), "well"));
}

/// Adds, but as a task.
#[mcp_task]
async fn add() -> &'static str {
    "added"
}

#[test]
fn a_tool_on_both_sides_is_an_error() {
    let built = TaskServer::wrap(Office::new()).task(add).build();
    let words = built.expect_err("`add` is there twice").to_string();
    assert!(
        words.contains("`add`") && words.contains("rename"),
        "{words}"
    );
}
