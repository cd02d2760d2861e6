//! Calls whose client wants to be told of their progress.

use serde_json::{Value, json};

use crate::client::Wire;
use crate::http::{events, is_stream};
use crate::{Client, Reply};

/// What came for one call.
#[derive(Clone, Debug)]
pub struct Told {
    /// The `params` of all notifications of progress, in their order.
    pub updates: Vec<Value>,
    /// What came last.
    pub reply: Reply,
    /// The response's media type; none over stdio.
    pub media_type: Option<String>,
}

impl Client {
    /// Calls a tool with a token for its progress, if any.
    pub async fn told(&self, tool: &str, arguments: Value, token: Option<Value>) -> Told {
        let mut params = json!({ "name": tool, "arguments": arguments });
        params["_meta"] = self.meta.clone();
        if let Some(token) = token {
            params["_meta"]["progressToken"] = token;
        }
        match &self.wire {
            Wire::Http(wire) => {
                let request = self.compose("tools/call", params);
                let (parts, text) = wire.exchange(request).await.expect("no response");
                let media_type = parts.headers["content-type"].to_str().expect("it is text");
                let mut messages: Vec<&str> = if is_stream(&parts) {
                    events(&text).collect()
                } else {
                    vec![&text]
                };
                let reply = messages.pop().expect("no reply").to_owned();
                Told {
                    updates: messages.into_iter().map(update).collect(),
                    reply: Reply::new(Some(parts.status.as_u16()), reply),
                    media_type: Some(media_type.to_owned()),
                }
            }
            Wire::Stdio(wire) => {
                let reply = self.request("tools/call", params).await;
                // Whatever came before the reply has been read.
                let others = wire.take_others().await;
                let told = Told {
                    updates: others.iter().map(|line| update(line)).collect(),
                    reply,
                    media_type: None,
                };
                self.request("tools/call", json!({ "name": "sync" })).await;
                let late = wire.take_others().await;
                assert!(late.is_empty(), "after the reply: {late:?}");
                told
            }
        }
    }
}

#[track_caller]
fn update(text: &str) -> Value {
    let mut message: Value = serde_json::from_str(text).expect("a message is JSON");
    assert_eq!(message["method"], "notifications/progress", "{message}");
    assert!(message["id"].is_null(), "{message}");
    message["params"].take()
}

impl Told {
    /// Checks that all updates are of this token, and that each is further than
    /// the one before.
    #[track_caller]
    pub fn grows(&self, token: &Value) {
        let mut last = f64::NEG_INFINITY;
        for update in &self.updates {
            assert_eq!(update["progressToken"], *token, "{self:?}");
            let progress = update["progress"].as_f64().expect("a number");
            assert!(progress > last, "{self:?}");
            last = progress;
        }
    }
}
