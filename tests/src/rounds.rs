//! Calls that ask in rounds (P60), as a client without tasks makes them.

use serde_json::{Value, json};

use crate::{Client, Reply};

/// What a call asked, and what to bring back with the answers.
#[derive(Clone, Debug)]
pub struct Asked {
    tool: String,
    arguments: Value,
    /// The questions, by key.
    pub requests: Value,
    /// The sealed state.
    pub state: String,
}

impl Client {
    /// Calls a tool that must ask something.
    pub async fn ask(&self, tool: &str, arguments: Value) -> Asked {
        let reply = self.call(tool, arguments.clone()).await;
        Asked::of(&reply, tool, arguments)
    }

    /// Calls the tool again, with answers.
    pub async fn retry(&self, asked: &Asked, responses: Value) -> Reply {
        let params = json!({
            "name": asked.tool,
            "arguments": asked.arguments,
            "inputResponses": responses,
            "requestState": asked.state,
        });
        self.request("tools/call", params).await
    }

    /// Fills in the forms `{answer}` under these keys.
    pub async fn fill_in(&self, asked: &Asked, answers: &[(&str, &str)]) -> Reply {
        let responses: Value = answers
            .iter()
            .map(|(key, answer)| (key.to_string(), accepted(json!({ "answer": answer }))))
            .collect();
        self.retry(asked, responses).await
    }
}

impl Asked {
    /// Reads a reply that must ask something.
    #[track_caller]
    pub fn of(reply: &Reply, tool: &str, arguments: Value) -> Self {
        let result = reply.result();
        assert_eq!(result["resultType"], "input_required", "{}", reply.text);
        let state = result["requestState"].as_str();
        Self {
            tool: tool.to_owned(),
            arguments,
            requests: result["inputRequests"].clone(),
            state: state.expect("a state is text").to_owned(),
        }
    }

    /// What the next round asks, which must ask something.
    #[must_use]
    #[track_caller]
    pub fn next(&self, reply: &Reply) -> Self {
        Self::of(reply, &self.tool, self.arguments.clone())
    }

    /// The keys of its questions, sorted.
    pub fn keys(&self) -> Vec<&str> {
        let requests = self.requests.as_object().expect("questions are an object");
        requests.keys().map(String::as_str).collect()
    }

    /// The same as if the call had been made otherwise.
    #[must_use]
    pub fn instead(&self, tool: &str, arguments: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments,
            ..self.clone()
        }
    }

    /// The same with another state.
    #[must_use]
    pub fn with_state(&self, state: impl Into<String>) -> Self {
        Self {
            state: state.into(),
            ..self.clone()
        }
    }
}

/// An answer that accepts, with this content.
pub fn accepted(content: impl Into<Value>) -> Value {
    json!({ "action": "accept", "content": content.into() })
}

/// The text of a result that went well.
#[track_caller]
pub fn text(reply: &Reply) -> &str {
    let result = reply.result();
    assert_eq!(result["resultType"], "complete", "{}", reply.text);
    assert_ne!(result["isError"], true, "{}", reply.text);
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {}", reply.text))
}
