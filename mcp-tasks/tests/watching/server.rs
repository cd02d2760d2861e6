//! Servers that come and go over one store, asked over their routers.

use std::time::{Duration, SystemTime};

use mcp_tasks::protocol::{Message, Reply};
use mcp_tasks::router::Router;
use mcp_tasks::runtime::{Runtime, RuntimeBuilder};
use mcp_tasks::{Caller, MemoryStore};
use serde_json::{Value, json};
use tokio::time::Instant;

/// A server, and what its successors need.
pub(crate) struct Server {
    store: MemoryStore,
    start: (SystemTime, Instant),
    tools: fn(RuntimeBuilder) -> RuntimeBuilder,
    pub(crate) router: Router,
}

impl Server {
    pub(crate) fn start(tools: fn(RuntimeBuilder) -> RuntimeBuilder) -> Self {
        let store = MemoryStore::new();
        let start = (SystemTime::now(), Instant::now());
        Self {
            router: router(&store, start, tools),
            store,
            start,
            tools,
        }
    }

    /// Kills it, and starts another.
    pub(crate) async fn crash(&mut self) {
        self.crash_into(self.tools).await;
    }

    /// The same with other code.
    pub(crate) async fn crash_into(&mut self, tools: fn(RuntimeBuilder) -> RuntimeBuilder) {
        let runtime = self.router.runtime();
        runtime.crash().await.expect("memory does not fail");
        // What was polled for the last time is dropped now.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        self.tools = tools;
        self.router = router(&self.store, self.start, tools);
    }

    /// Sends a request with this much more in its `_meta`.
    pub(crate) async fn send(&self, method: &str, params: Value, meta: Value) -> Value {
        let text = message(method, params, meta);
        let message = Message::parse(text.as_bytes()).unwrap();
        let reply = self.router.route(&message, &Caller::anonymous()).await;
        let Reply { body, .. } = reply.expect("it is ours");
        serde_json::from_str(&body).unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send("tools/call", params, json!({})).await
    }

    /// Calls a tool that becomes a task, and gives its id.
    pub(crate) async fn task(&self, tool: &str, arguments: Value) -> String {
        let created = self.call(tool, arguments).await;
        let id = created["result"]["taskId"].as_str();
        id.unwrap_or_else(|| panic!("no task: {created}"))
            .to_owned()
    }

    /// Waits until the task has this status, and gives it.
    pub(crate) async fn until(&self, id: &str, status: &str) -> Value {
        for _ in 0..10_000 {
            let params = json!({ "taskId": id });
            let reply = self.send("tasks/get", params, json!({})).await;
            if reply["result"]["status"] == status {
                return reply["result"].clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never {status}");
    }

    /// Fills in the form `{answer}` under a key, once it is asked.
    pub(crate) async fn answer(&self, id: &str, key: &str, answer: &str) -> Value {
        self.until(id, "input_required").await;
        let response = json!({ "action": "accept", "content": { "answer": answer } });
        let params = json!({ "taskId": id, "inputResponses": { key: response } });
        self.send("tasks/update", params, json!({})).await
    }
}

fn router(
    store: &MemoryStore,
    start: (SystemTime, Instant),
    tools: fn(RuntimeBuilder) -> RuntimeBuilder,
) -> Router {
    let builder = Runtime::builder("watching", "1")
        .tokio_clock(start.0, start.1)
        .park_after(Duration::from_secs(3600))
        .store(store.share());
    let runtime = tools(builder).build().unwrap();
    runtime.start();
    Router::new(runtime)
}

fn message(method: &str, mut params: Value, mut meta: Value) -> String {
    let declared = meta
        .as_object_mut()
        .and_then(|meta| meta.remove("capabilities"));
    let capabilities = declared.unwrap_or_else(
        || json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } }),
    );
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    params["_meta"] = meta;
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}
