//! Requests of 2026-07-28, and what tests do with tasks over and over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::http::HttpWire;
use crate::stdio::StdioWire;
use crate::{Gone, Listening, PATIENCE, Reply};

/// What a client declares on its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declares {
    /// Elicitation and tasks: `M` in the cases.
    Everything,
    /// Elicitation, no tasks: `M-`.
    NoTasks,
    /// Neither: `M0`.
    Nothing,
    /// Tasks, no elicitation.
    NoElicitation,
}

/// The `_meta` of a request that declares so much.
pub fn declared(declares: Declares) -> Value {
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    let capabilities = match declares {
        Declares::Everything => json!({ "elicitation": {}, "extensions": tasks }),
        Declares::NoTasks => json!({ "elicitation": {} }),
        Declares::Nothing => json!({}),
        Declares::NoElicitation => json!({ "extensions": tasks }),
    };
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A client of one server; a cheap handle.
#[derive(Clone)]
pub struct Client {
    pub(crate) wire: Wire,
    pub(crate) meta: Value,
    token: Option<String>,
    last_id: Arc<AtomicU64>,
}

#[derive(Clone)]
pub(crate) enum Wire {
    Http(HttpWire),
    Stdio(Arc<StdioWire>),
}

impl Client {
    pub(crate) fn new(wire: Wire) -> Self {
        Self {
            wire,
            meta: declared(Declares::Everything),
            token: None,
            last_id: Arc::default(),
        }
    }

    /// A client of a server that the test runs itself, by its address.
    pub fn of_url(url: impl Into<String>) -> Self {
        Self::new(Wire::Http(HttpWire::new(url.into())))
    }

    /// The same client, declaring something else.
    #[must_use]
    pub fn declaring(&self, declares: Declares) -> Self {
        self.with_meta(declared(declares))
    }

    /// The same client, sending this `_meta`.
    #[must_use]
    pub fn with_meta(&self, meta: Value) -> Self {
        Self {
            meta,
            ..self.clone()
        }
    }

    /// Closes the server's input; over stdio only.
    pub(crate) async fn hang_up(&self) {
        match &self.wire {
            Wire::Http(_) => panic!("this client speaks HTTP"),
            Wire::Stdio(wire) => wire.close().await,
        }
    }

    /// Whether it speaks HTTP.
    pub fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    /// The same client, sending this bearer token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            token: Some(token.to_owned()),
            ..self.clone()
        }
    }

    /// The server's address; over HTTP only.
    pub fn url(&self) -> &str {
        self.http().url()
    }

    /// Sends a request.
    pub async fn request(&self, method: &str, params: Value) -> Reply {
        let replied = self.attempt(method, params).await;
        replied.unwrap_or_else(|gone| panic!("no reply to {method}: {gone:?}"))
    }

    /// Sends a request to a server that may end meanwhile.
    pub async fn attempt(&self, method: &str, params: Value) -> Result<Reply, Gone> {
        let (id, message) = self.message(method, params);
        let reply = match &self.wire {
            Wire::Http(wire) => {
                let request = wire.compose(&message, self.token.as_deref());
                wire.send(request).await?
            }
            Wire::Stdio(wire) => wire.send(id, &message).await?,
        };
        assert_eq!(reply.message["jsonrpc"], "2.0", "{reply:?}");
        assert_eq!(reply.message["id"], id, "{reply:?}");
        Ok(reply)
    }

    /// Begins a subscription, which must not be refused.
    pub async fn listen(&self, notifications: Value) -> Listening {
        let params = json!({ "notifications": notifications });
        let (id, message) = self.message("subscriptions/listen", params);
        match &self.wire {
            Wire::Http(wire) => {
                let request = wire.compose(&message, self.token.as_deref());
                wire.listen(id, request).await
            }
            Wire::Stdio(wire) => wire.listen(id, &message).await,
        }
    }

    /// Begins a subscription to tasks, all of which must be agreed to.
    pub async fn listen_to(&self, tasks: &[&str]) -> Listening {
        let filter = json!({ "taskIds": tasks });
        let mut listening = self.listen(filter.clone()).await;
        assert_eq!(listening.acknowledged().await, filter);
        listening
    }

    fn message(&self, method: &str, mut params: Value) -> (u64, Value) {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        if params.is_object() && params.get("_meta").is_none() {
            params["_meta"] = self.meta.clone();
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        (id, message)
    }

    /// The HTTP request that [`request`](Self::request) would send, to be
    /// changed and sent by [`send_http`](Self::send_http).
    pub fn compose(&self, method: &str, params: Value) -> http::Request<String> {
        let (_, message) = self.message(method, params);
        self.http().compose(&message, self.token.as_deref())
    }

    /// Sends a notification, which has no reply.
    pub async fn notify(&self, method: &str, params: Value) {
        let (_, mut message) = self.message(method, params);
        message.as_object_mut().expect("a message").remove("id");
        match &self.wire {
            Wire::Http(wire) => {
                let request = wire.compose(&message, self.token.as_deref());
                let reply = wire.send(request).await.expect("no response");
                assert_eq!(reply.status, Some(202), "{reply:?}");
                assert_eq!(reply.text, "");
            }
            Wire::Stdio(wire) => {
                let written = wire.write(message.to_string().as_bytes()).await;
                written.expect("the server reads");
            }
        }
    }

    /// Sends an HTTP request as it is.
    pub async fn send_http(&self, request: http::Request<String>) -> Reply {
        self.http().send(request).await.expect("no response")
    }

    fn http(&self) -> &HttpWire {
        match &self.wire {
            Wire::Http(wire) => wire,
            Wire::Stdio(_) => panic!("this client speaks over stdio"),
        }
    }

    /// Sends something that need not be a message, over either transport; over
    /// HTTP with headers that fit a call of a tool. The reply must have no id
    /// that a request waits for.
    pub async fn send_raw(&self, text: impl AsRef<[u8]>) -> Reply {
        let text = text.as_ref();
        match &self.wire {
            Wire::Http(wire) => {
                let call = json!({"method": "tools/call", "params": {"name": "sync"}});
                let request = wire.compose(&call, self.token.as_deref());
                let sent = wire.send(request.map(|_| text.to_vec())).await;
                sent.expect("no response")
            }
            Wire::Stdio(wire) => {
                wire.write(text).await.expect("the server reads");
                wire.next_other().await
            }
        }
    }

    /// Sends a message that is written by hand, over HTTP with the headers of this
    /// method. Its id must be none that a request waits for.
    pub async fn send_as(&self, method: &str, text: String) -> Reply {
        match &self.wire {
            Wire::Http(wire) => {
                let headers = json!({ "method": method, "params": {} });
                let request = wire.compose(&headers, self.token.as_deref());
                let sent = wire.send(request.map(|_| text)).await;
                sent.expect("no response")
            }
            Wire::Stdio(wire) => {
                let written = wire.write(text.as_bytes()).await;
                written.expect("the server reads");
                wire.next_other().await
            }
        }
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Calls a tool that becomes a task, and gives the task's id.
    pub async fn task(&self, tool: &str, arguments: Value) -> String {
        let created = self.call(tool, arguments).await;
        let result = created.result();
        assert_eq!(result["resultType"], "task", "no task: {}", created.text);
        result["taskId"].as_str().expect("ids are text").to_owned()
    }

    /// Sends `tasks/get`, which must go well.
    pub async fn get(&self, id: &str) -> Value {
        let reply = self.try_get(id).await;
        assert_eq!(reply.result()["taskId"], id);
        assert_eq!(reply.result()["resultType"], "complete");
        reply.result().clone()
    }

    /// Sends `tasks/get`.
    pub async fn try_get(&self, id: &str) -> Reply {
        self.request("tasks/get", json!({ "taskId": id })).await
    }

    /// Sends `tasks/update`.
    pub async fn update(&self, id: &str, responses: Value) -> Reply {
        let params = json!({"taskId": id, "inputResponses": responses});
        self.request("tasks/update", params).await
    }

    /// Accepts a question that is the form `{answer}`.
    pub async fn answer(&self, id: &str, key: &str, answer: &str) {
        let response = json!({"action": "accept", "content": {"answer": answer}});
        let reply = self.update(id, json!({ key: response })).await;
        acknowledged(&reply);
    }

    /// Sends `tasks/cancel`.
    pub async fn cancel(&self, id: &str) -> Reply {
        self.request("tasks/cancel", json!({ "taskId": id })).await
    }

    /// Sends `tasks/cancel`, which must be acknowledged.
    pub async fn cancelled(&self, id: &str) {
        acknowledged(&self.cancel(id).await);
    }

    /// Polls until the task has this status; that it ends with another is a
    /// failure.
    pub async fn until(&self, id: &str, status: &str) -> Value {
        self.until_task(id, status, |task| task["status"] == status)
            .await
    }

    /// Polls until exactly one question is open that is not `last`, and gives
    /// its key.
    pub async fn until_asked(&self, id: &str, last: Option<&str>) -> String {
        let open = |task: &Value| {
            let mut keys = keys(task);
            (keys.len() == 1 && keys.first().map(String::as_str) != last).then(|| keys.remove(0))
        };
        let task = self
            .until_task(id, "one new question", |task| open(task).is_some())
            .await;
        open(&task).expect("that is what was waited for")
    }

    /// Polls until the task has completed, and gives the text of its result.
    pub async fn until_text(&self, id: &str) -> String {
        let task = self.until(id, "completed").await;
        let result = &task["result"];
        assert_ne!(result["isError"], true, "{task}");
        result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("no text: {task}"))
            .to_owned()
    }

    /// Polls until the task is as it should be; `wanted` says how that is.
    pub async fn until_task(&self, id: &str, wanted: &str, is: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let task = self.get(id).await;
            if is(&task) {
                return task;
            }
            let ended = matches!(
                task["status"].as_str(),
                Some("completed" | "failed" | "cancelled")
            );
            assert!(!ended, "never {wanted}: {task}");
            assert!(Instant::now() < deadline, "not {wanted} in time: {task}");
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// What the server holds, from the tool `stats`.
    pub async fn stats(&self) -> Value {
        let reply = self.call("stats", json!({})).await;
        reply.result()["structuredContent"].clone()
    }

    /// Polls until the server holds what it should.
    pub async fn until_stats(&self, wanted: &str, is: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let stats = self.stats().await;
            if is(&stats) {
                return stats;
            }
            assert!(Instant::now() < deadline, "not {wanted} in time: {stats}");
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The keys of a task's open questions, sorted.
pub fn keys(task: &Value) -> Vec<String> {
    let requests = task["inputRequests"].as_object();
    requests
        .map(|requests| requests.keys().cloned().collect())
        .unwrap_or_default()
}

/// Checks that a reply acknowledges, and says nothing of the task.
#[track_caller]
pub fn acknowledged(reply: &Reply) {
    let result = reply.result().as_object().expect("a result is an object");
    let members: Vec<&str> = result.keys().map(String::as_str).collect();
    assert_eq!(members, ["_meta", "resultType"], "{}", reply.text);
    assert_eq!(result["resultType"], "complete");
}
