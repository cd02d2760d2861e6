//! One type with rmcp's tools and with tasks: each side serves its own, on the
//! same value.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_tasks::prelude::*;
use mcp_tasks_tests::{Client, Declares};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::json;

/// A server as people have it, with a task beside its tools.
#[derive(Clone)]
struct Desk {
    signed: Arc<AtomicU32>,
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Desk {
    fn new() -> Self {
        Self {
            signed: Arc::default(),
            tool_router: Self::tool_router(),
        }
    }

    #[tool(description = "How many papers are signed")]
    async fn count(&self) -> String {
        self.signed.load(Ordering::SeqCst).to_string()
    }
}

#[mcp_task_impl]
impl Desk {
    /// Signs a paper, once somebody agrees.
    #[mcp_task]
    async fn sign(
        &self,
        /// What to sign
        paper: String,
    ) -> Result<String, ToolError> {
        let name = self.signer(&paper).await?;
        let number = step_value(async { self.signed.fetch_add(1, Ordering::SeqCst) + 1 }).await;
        Ok(format!("{paper}, number {number}, signed by {name}"))
    }

    #[mcp_task_flow]
    async fn signer(&self, paper: &str) -> Result<String, AskError> {
        let name: String = ask_user(format!("Who signs {paper}?")).await?;
        Ok(name)
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("desk", "7"))
    }
}

async fn open() -> Client {
    let desk = Desk::new();
    let server = TaskServer::wrap(desk.clone())
        .tasks_of(desk)
        .build()
        .unwrap();
    let application = axum::Router::new().route_service("/mcp", server.service());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, application).await });
    Client::of_url(format!("http://{address}/mcp"))
}

#[tokio::test]
async fn one_value_has_tools_of_rmcp_and_tasks() {
    let client = open().await;
    let listed = client.request("tools/list", json!({})).await;
    let names: Vec<&str> = listed.result()["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["sign", "count"]);

    for number in 1..=2 {
        let id = client.task("sign", json!({"paper": "A"})).await;
        let key = client.until_asked(&id, None).await;
        assert_eq!(key, "name/name");
        client.answer(&id, &key, "Ada").await;
        let text = client.until_text(&id).await;
        assert_eq!(text, format!("A, number {number}, signed by Ada"));
    }
    let count = client
        .declaring(Declares::Nothing)
        .call("count", json!({}))
        .await;
    assert_eq!(count.tool_text(), "2");
}

/// Both on one block: rmcp's attribute first, and each takes its own methods.
#[derive(Clone)]
struct Drawer;

#[tool_router]
#[mcp_task_impl]
impl Drawer {
    #[tool(description = "What is in it")]
    async fn content(&self) -> String {
        "pencils".to_owned()
    }

    /// Files a paper.
    #[mcp_task]
    async fn file(&self, paper: String) -> String {
        let content = step_value(self.content()).await;
        format!("{paper}, filed with the {content}")
    }
}

#[test]
fn one_block_may_have_both() {
    let tools = Drawer::tool_router().list_all();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].name, "content");
    let server = TaskServer::new("drawer", "1").tasks_of(Drawer).build();
    assert!(server.is_ok());
}
