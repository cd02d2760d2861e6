//! What people and clients write does not get into the log.

use mcp_tasks::prelude::*;
use serde_json::{Value, json};
use tracing::Level;

use crate::heard::Heard;
use crate::server::Server;

/// Stands in every place that a client, a person or a function writes to.
const SECRET: &str = "s3cret";

#[mcp_task]
async fn discreet(argument: String) -> Result<String, ToolError> {
    set_status(format!("status {argument}"));
    let result = step(echo(&argument)).await?;
    let answer: String = ask_user(format!("Message {argument}?")).await?;
    let word: String = signal("word").await?;
    step(fail(&argument)).key("fails").await.ok();
    if argument.contains("error") {
        return Err(ToolError::new(format!("{argument}{result}{answer}{word}")));
    }
    Ok(format!("{argument}{result}{answer}{word}"))
}

async fn echo(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

async fn fail(text: &str) -> Result<(), String> {
    Err(text.to_owned())
}

fn tools(builder: mcp_tasks::runtime::RuntimeBuilder) -> mcp_tasks::runtime::RuntimeBuilder {
    builder.task(discreet)
}

fn assert_discreet(heard: &Heard) {
    let all = heard.all();
    assert!(!all.is_empty());
    for said in all {
        if said.level <= Level::INFO {
            assert!(!said.to_string().contains(SECRET), "{said:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_task_is_in_the_log_but_its_keys() {
    for argument in [SECRET, "s3cret error"] {
        let heard = Heard::listen();
        let mut server = Server::start(tools);
        let id = server
            .task("discreet", json!({ "argument": argument }))
            .await;
        server.until(&id, "input_required").await;
        server.crash().await;
        server.answer(&id, "answer", SECRET).await;
        server.crash().await;
        let tasks = server.router.runtime().tasks();
        let task = mcp_tasks::task::TaskId::from_text(&id);
        tasks.signal(&task, "word", SECRET).await.unwrap();
        let ended = server.until(&id, "completed").await;
        assert!(ended["result"].to_string().contains(SECRET));
        assert_discreet(&heard);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_refused_is_in_the_log() {
    let heard = Heard::listen();
    let server = Server::start(tools);
    let id = server.task("discreet", json!({ "argument": "x" })).await;
    server.until(&id, "input_required").await;
    let refused: [(&str, Value); 6] = [
        ("tasks/get", json!({ "taskId": SECRET })),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": { "answer": SECRET } }),
        ),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": { SECRET: { "x": "y".repeat(1 << 20) } } }),
        ),
        (
            "tools/call",
            json!({ "name": "discreet", "arguments": { "argument": [SECRET] } }),
        ),
        (
            "tools/call",
            json!({ "name": "discreet", "arguments": { "argument": "x" }, "requestState": SECRET }),
        ),
        ("tasks/s3cret", json!({})),
    ];
    for (method, params) in refused {
        let reply = server.send(method, params, json!({})).await;
        assert!(reply["error"].is_object(), "{method}: {reply}");
    }
    assert_discreet(&heard);
}

/// The same tool, and a parameter of another type.
#[mcp_task(name = "discreet")]
async fn discreet_changed(argument: u32) -> Result<String, ToolError> {
    Ok(argument.to_string())
}

#[tokio::test(start_paused = true)]
async fn arguments_that_no_longer_fit_are_not_in_the_log() {
    let heard = Heard::listen();
    let mut server = Server::start(tools);
    let id = server.task("discreet", json!({ "argument": SECRET })).await;
    server.until(&id, "input_required").await;
    server
        .crash_into(|builder| builder.task(discreet_changed))
        .await;
    server.answer(&id, "answer", SECRET).await;
    // It is taken up meanwhile.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let held = server.until(&id, "working").await;
    assert!(held["statusMessage"].as_str().unwrap().contains("held"));
    let told = heard.all().into_iter();
    let told = told.filter(|said| said.message.contains("held"));
    assert_eq!(told.count(), 1);
    assert_discreet(&heard);
}

#[mcp_task(name = "recorded")]
async fn recorded_text() -> Result<String, ToolError> {
    let text = step(echo(SECRET)).key("result").await?;
    let answer: String = ask_user("Go on?").await?;
    Ok(text + &answer)
}

#[mcp_task(name = "recorded")]
async fn recorded_number() -> Result<String, ToolError> {
    let number: u32 = step(echo_number()).key("result").await?;
    let answer: String = ask_user("Go on?").await?;
    Ok(number.to_string() + &answer)
}

async fn echo_number() -> Result<u32, String> {
    Ok(7)
}

#[tokio::test(start_paused = true)]
async fn results_that_no_longer_fit_are_not_in_the_log() {
    let heard = Heard::listen();
    let mut server = Server::start(|builder| builder.task(recorded_text));
    let id = server.task("recorded", json!({})).await;
    server.until(&id, "input_required").await;
    server
        .crash_into(|builder| builder.task(recorded_number))
        .await;
    server.answer(&id, "answer", "yes").await;
    // It is taken up meanwhile; what becomes of it is another test's affair.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let told = heard.all().into_iter();
    let errors = told.filter(|said| said.level == Level::ERROR);
    assert_eq!(errors.count(), 1);
    assert_discreet(&heard);
}

/// Tokens are in no log, of whatever level.
#[cfg(feature = "http")]
#[tokio::test]
async fn a_token_is_in_no_log() {
    use axum::body::Body;
    use http::Request;
    use tower_service::Service as _;

    let heard = Heard::listen();
    let server = TaskServer::new("discreet", "0").task(discreet);
    let mut service = server
        .bearer_tokens([("alice", SECRET)])
        .into_service()
        .unwrap();
    for (token, body, status) in [
        (SECRET, standalone("tools/list"), 200),
        (SECRET, standalone("resources/list"), 404),
        ("a-wrong-s3cret", standalone("tools/list"), 401),
        (SECRET, initialize(), 200),
    ] {
        let version = &body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", format!("Bearer {token}"));
        if let Some(version) = version.as_str() {
            request = request
                .header("mcp-protocol-version", version)
                .header("mcp-method", body["method"].as_str().unwrap());
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        let response = service.call(request).await.unwrap();
        assert_eq!(response.status(), status, "{body}");
    }
    let all = heard.all();
    assert!(all.iter().any(|said| said.target.starts_with("rmcp")));
    for said in all {
        assert!(!said.to_string().contains(SECRET), "{said:?}");
    }
}

#[cfg(feature = "http")]
fn standalone(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } } })
}

#[cfg(feature = "http")]
fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    } })
}
