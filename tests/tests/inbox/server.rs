//! A server with an inbox, and tools that ask in every way there is.

use axum::Router;
use mcp_tasks::elicit::FromSchema;
use mcp_tasks::prelude::*;
use mcp_tasks::server::BuiltServer;
use mcp_tasks::{Limits, ModelRequest};
use mcp_tasks_tests::{Client, Declares, Visitor, declared};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Asks for a name.
#[mcp_task]
async fn name() -> Result<String, ToolError> {
    set_status("waiting for a name");
    let name: Result<String, AskError> = ask_user("What is your name?\nYour full name.").await;
    match name {
        Ok(name) => Ok(format!("got: {name}")),
        Err(AskError::Declined) => Ok("declined".to_owned()),
        Err(AskError::Dismissed) => Ok("dismissed".to_owned()),
        Err(error) => Err(error.into()),
    }
}

/// One after the other.
#[mcp_task]
async fn twice() -> Result<String, ToolError> {
    let first: String = ask_user("The first?").await?;
    let second: String = ask_user("The second?").await?;
    Ok(format!("{first},{second}"))
}

/// A yes is all it wants.
#[mcp_task]
async fn confirm() -> Result<&'static str, ToolError> {
    let (): () = ask_user("Are you sure?").await?;
    Ok("confirmed")
}

#[mcp_task]
async fn model() -> Result<String, ToolError> {
    Ok(ask_model(ModelRequest::new(10).user("Hello")).await?.text())
}

#[mcp_task]
async fn open(url: String) -> Result<&'static str, ToolError> {
    ask_user_url("Please sign in.", url).await?;
    Ok("opened")
}

const IN_TITLE: &str = "</label><script>alert('title')</script>";

/// What must not become part of the page.
#[derive(Elicit)]
struct Hostile {
    /// </p><script>alert('description')</script>
    #[elicit(
        title = "</label><script>alert('title')</script>",
        default = "\"'><script>alert('default')</script>"
    )]
    text: String,
    choice: Choices,
}

#[derive(Elicit)]
enum Choices {
    #[elicit(title = "<script>alert('choice')</script>")]
    One,
    #[elicit(title = "</option>&amp;")]
    Two,
}

#[mcp_task]
async fn hostile() -> Result<String, ToolError> {
    set_status("<script>alert('status')</script>");
    let hostile: Hostile = ask_user("<script>alert('message')</script> & \"so on\"").await?;
    let chosen = match hostile.choice {
        Choices::One => "one",
        Choices::Two => "two",
    };
    Ok(format!("{chosen} {}", hostile.text))
}

/// Every kind of field, required and not.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(super) struct Everything {
    text: String,
    #[schemars(length(min = 2, max = 4))]
    short: String,
    #[schemars(length(max = 500))]
    long: Option<String>,
    #[schemars(email)]
    email: Option<String>,
    #[schemars(url)]
    link: Option<String>,
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    moment: Option<String>,
    #[schemars(range(min = 0.5, max = 1.5))]
    ratio: f64,
    #[schemars(range(min = 1, max = 100))]
    percent: u8,
    sure: bool,
    maybe: Option<bool>,
    level: Level,
    many: Many,
    #[schemars(length(min = 1, max = 2))]
    levels: Vec<Level>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Many {
    A,
    B,
    C,
    D,
    E,
    F,
}

#[mcp_task]
async fn everything() -> Result<Json<Everything>, ToolError> {
    let FromSchema(everything) = ask_user::<FromSchema<Everything>>("All of it, please.").await?;
    Ok(Json(everything))
}

fn tools() -> TaskServer {
    TaskServer::new("desk", "7")
        .task(name)
        .task(twice)
        .task(confirm)
        .task(model)
        .task(open)
        .task(hostile)
        .task(everything)
}

/// A server that knows alice and bob, before it is built.
pub(super) fn desk() -> TaskServer {
    tools().bearer_tokens([("alice", "a-secret"), ("bob", "b-secret")])
}

/// The same, where nobody has a name.
pub(super) fn nameless() -> TaskServer {
    tools()
}

/// A server that is being served.
pub(super) struct Desk {
    pub(super) server: BuiltServer,
    pub(super) origin: String,
}

impl Desk {
    pub(super) async fn open(server: TaskServer) -> Self {
        let server = server.build().unwrap();
        let inbox = server.inbox_service().unwrap();
        let application = Router::new()
            .route_service("/mcp", server.service())
            .route_service("/inbox", inbox);
        Self {
            server,
            origin: serve(application).await,
        }
    }

    pub(super) async fn with_inbox() -> Self {
        Self::open(desk().inbox()).await
    }

    pub(super) async fn with_limits(change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        Self::open(desk().inbox().limits(limits)).await
    }

    /// A client that speaks MCP.
    pub(super) fn client(&self, token: &str) -> Client {
        let mut meta = declared(Declares::Everything);
        let capabilities = &mut meta["io.modelcontextprotocol/clientCapabilities"];
        capabilities["elicitation"] = json!({ "form": {}, "url": {} });
        capabilities["sampling"] = json!({});
        let client = Client::of_url(format!("{}/mcp", self.origin));
        client.with_meta(meta).with_token(token)
    }

    pub(super) fn alice(&self) -> Client {
        self.client("a-secret")
    }

    /// A task of alice's that asks.
    pub(super) async fn asks(&self, tool: &str) -> String {
        self.asks_with(tool, json!({})).await
    }

    pub(super) async fn asks_with(&self, tool: &str, arguments: serde_json::Value) -> String {
        let id = self.alice().task(tool, arguments).await;
        self.alice().until_asked(&id, None).await;
        id
    }

    /// Whoever has this token, in a browser.
    pub(super) fn visitor(&self, token: &str) -> Visitor {
        self.stranger()
            .with("authorization", format!("Bearer {token}"))
    }

    pub(super) fn visiting_alice(&self) -> Visitor {
        self.visitor("a-secret")
    }

    pub(super) fn stranger(&self) -> Visitor {
        Visitor::of(format!("{}/inbox", self.origin))
    }
}

/// Serves an application, and gives its origin.
pub(super) async fn serve(application: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, application).await });
    format!("http://{address}")
}

/// The title that is escaped somewhere on the page.
pub(super) fn title_as_shown() -> String {
    IN_TITLE.replace('<', "&lt;").replace('>', "&gt;")
}
