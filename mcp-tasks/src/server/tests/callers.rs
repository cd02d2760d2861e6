//! Who calls, by way of both transports and of sessions.

#[cfg(feature = "http")]
mod http;

use serde_json::{Value, json};

use super::super::TaskServer;
use super::stdio::Client;
use super::{initialize, standalone};
use crate::{Caller, ToolError, ask_user, mcp_task};

/// Says who has called: at once, or before and after a question.
#[mcp_task(crate = crate)]
async fn whoami(caller: Caller, asks: bool) -> Result<String, ToolError> {
    let before = caller.to_string();
    if asks {
        ask_user::<()>("Shall I say it again?").await?;
    }
    Ok(format!("{before},{caller}"))
}

fn server() -> TaskServer {
    TaskServer::new("callers", "0").task(whoami)
}

/// A call that is no task.
fn call(id: u32, asks: bool) -> Value {
    let params = json!({ "name": "whoami", "arguments": { "asks": asks } });
    standalone(id, "tools/call", params)
}

/// The same in a session.
fn call_in_session(id: u32, asks: bool) -> Value {
    let params = json!({ "name": "whoami", "arguments": { "asks": asks } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn text(reply: &Value) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {reply}"))
}

#[tokio::test]
async fn over_stdio_everybody_is_anonymous_or_whom_the_server_was_told() {
    for (server, name) in [
        (server(), "anonymous"),
        (server().stdio_caller(Caller::new("alice")), "alice"),
    ] {
        let mut client = Client::of(server);
        let reply = client.ask(&call(1, false)).await;
        assert_eq!(text(&reply), format!("{name},{name}"));
    }
}

#[tokio::test]
async fn in_a_session_on_stdio_the_caller_stays_the_same_over_a_question() {
    let mut client = Client::of(server().stdio_caller(Caller::new("alice")));
    client.ask(&initialize(1)).await;
    client.send(&call_in_session(2, true)).await;
    let asked = client.receive().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let answer = json!({ "action": "accept", "content": {} });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
    client.send(&answer).await;
    assert_eq!(text(&client.receive().await), "alice,alice");
}
