//! A client in this process: what it sends goes through the router.

use std::time::Duration;

use mcp_tasks::Caller;
use mcp_tasks::protocol::Message;
use mcp_tasks::router::Router;
use mcp_tasks::runtime::{Runtime, RuntimeBuilder};
use serde_json::{Value, json};

pub(crate) struct Client {
    pub(crate) router: Router,
    pub(crate) caller: Caller,
    /// Joined to the `_meta` of each request.
    pub(crate) meta: Value,
}

impl Client {
    pub(crate) fn new(tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Self {
        let runtime = tools(Runtime::builder("test", "1"));
        Self {
            router: Router::new(runtime.build().expect("the server is put together")),
            caller: Caller::anonymous(),
            meta: json!({}),
        }
    }

    /// The reply to one request, of a client with or without tasks.
    pub(crate) async fn send(&self, method: &str, mut params: Value, tasks: bool) -> Value {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        if tasks {
            meta["io.modelcontextprotocol/clientCapabilities"]["extensions"] =
                json!({ "io.modelcontextprotocol/tasks": {} });
        }
        let own = self.meta.as_object().expect("an object").clone();
        meta.as_object_mut().expect("an object").extend(own);
        params["_meta"] = meta;
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let text = request.to_string();
        let message = Message::parse(text.as_bytes()).expect("a message");
        let reply = self.router.route(&message, &self.caller).await;
        serde_json::from_str(&reply.expect("it is ours").body).expect("JSON")
    }

    /// What a call in line returns.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut reply = self.send("tools/call", params, false).await;
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].take()
    }

    /// The text that a call in line returns.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        let text = result["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {result}"))
            .to_owned()
    }

    /// The id of the task that a call becomes.
    pub(crate) async fn start(&self, tool: &str, arguments: Value) -> String {
        let params = json!({"name": tool, "arguments": arguments});
        let created = self.send("tools/call", params, true).await;
        let id = created["result"]["taskId"].as_str();
        id.unwrap_or_else(|| panic!("no task: {created}"))
            .to_owned()
    }

    /// Answers a question with a text.
    pub(crate) async fn answer(&self, id: &str, key: &str, answer: Value) {
        let response = json!({"action": "accept", "content": {"answer": answer}});
        self.respond(id, key, response).await;
    }

    /// Responds to a question.
    pub(crate) async fn respond(&self, id: &str, key: &str, response: Value) {
        let params = json!({"taskId": id, "inputResponses": {key: response}});
        let reply = self.send("tasks/update", params, true).await;
        assert!(reply["error"].is_null(), "{reply}");
    }

    /// Polls until the task is `status`.
    pub(crate) async fn until(&self, id: &str, status: &str) -> Value {
        let mut task = Value::Null;
        for _ in 0..5000 {
            task = self.send("tasks/get", json!({"taskId": id}), true).await["result"].take();
            if task["status"] == status {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("never {status}: {task}");
    }

    /// How a call that would become a task is refused, and that it has not.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut reply = self.send("tools/call", params, true).await;
        assert!(reply["result"].is_null(), "{reply}");
        let stats = self.router.runtime().tasks().stats().await;
        assert_eq!(stats.expect("memory answers").resident, 0);
        reply["error"].take()
    }

    /// The listing of a tool.
    pub(crate) fn listing(&self, tool: &str) -> Value {
        let tool = self.router.runtime().tool(tool);
        tool.expect("the tool is there").listing().clone()
    }
}
