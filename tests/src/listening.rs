//! Subscriptions: messages that come without being asked for each.

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::{Client, PATIENCE, Reply};

/// What a client hears on one subscription, in order. Dropping it closes the
/// stream over HTTP, and does nothing over stdio.
pub struct Listening {
    id: u64,
    source: Source,
}

enum Source {
    /// Read no faster than a test asks for.
    Http {
        body: Incoming,
        read: String,
    },
    Stdio(mpsc::UnboundedReceiver<String>),
}

impl Listening {
    pub(crate) fn over_http(id: u64, body: Incoming) -> Self {
        let read = String::new();
        let source = Source::Http { body, read };
        Self { id, source }
    }

    pub(crate) fn over_stdio(id: u64, lines: mpsc::UnboundedReceiver<String>) -> Self {
        let source = Source::Stdio(lines);
        Self { id, source }
    }

    /// The id of the request, which is that of the subscription.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The next message; `None` if the stream has ended.
    pub async fn next(&mut self) -> Option<Reply> {
        let next = timeout(PATIENCE, self.source.next()).await;
        let message = Reply::new(None, next.expect("nothing comes")?);
        let said = &message.message;
        let meta = ["params", "result"].map(|member| &said[member]["_meta"]);
        let its = |meta: &&Value| meta["io.modelcontextprotocol/subscriptionId"] == self.id;
        assert!(meta.iter().any(its), "of another: {message:?}");
        Some(message)
    }

    /// The next message, which must be a notification of this method.
    pub async fn hears(&mut self, method: &str) -> Reply {
        let message = self.next().await.expect("the stream has ended");
        assert_eq!(message.message["method"], method, "{message:?}");
        message
    }

    /// What the server agrees to; comes first.
    pub async fn acknowledged(&mut self) -> Value {
        let first = self.hears("notifications/subscriptions/acknowledged").await;
        first.message["params"]["notifications"].clone()
    }

    /// The next state of a task.
    pub async fn task(&mut self) -> Value {
        let told = self.hears("notifications/tasks").await;
        told.message["params"].clone()
    }

    /// States of a task up to one of this status; that it ends with another is a
    /// failure.
    pub async fn until(&mut self, status: &str) -> Value {
        loop {
            let task = self.task().await;
            if task["status"] == status {
                return task;
            }
            let ended = ["completed", "failed", "cancelled"].contains(&status_of(&task));
            assert!(!ended, "never {status}: {task}");
        }
    }

    /// Ends the subscription as a client does: over HTTP by closing the stream.
    pub async fn cancel(self, client: &Client) {
        if let Source::Stdio(_) = self.source {
            let request = json!({ "requestId": self.id });
            client.notify("notifications/cancelled", request).await;
        }
    }
}

fn status_of(task: &Value) -> &str {
    task["status"].as_str().unwrap_or_default()
}

impl Source {
    async fn next(&mut self) -> Option<String> {
        let (body, read) = match self {
            Self::Stdio(lines) => return lines.recv().await,
            Self::Http { body, read } => (body, read),
        };
        loop {
            while let Some(end) = read.find("\n\n") {
                let event: String = read.drain(..end + 2).collect();
                let data = event.trim_end().strip_prefix("data: ").map(str::to_owned);
                let is_comment = event.starts_with(':');
                assert!(data.is_some() || is_comment, "not an event: {event}");
                if data.is_some() {
                    return data;
                }
            }
            let frame = body.frame().await?.expect("the connection holds");
            let data = frame.into_data().expect("no trailers");
            read.push_str(std::str::from_utf8(&data).expect("events are UTF-8"));
        }
    }
}
