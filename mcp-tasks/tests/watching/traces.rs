//! A task belongs to the trace of the call that began it.

use mcp_tasks::prelude::*;
use mcp_tasks::task::{Event, Journal, TaskId};
use mcp_tasks::{TraceContext, trace_context};
use serde_json::{Value, json};

use crate::heard::Heard;
use crate::server::Server;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER: &str = "00-11111111111111111111111111111111-2222222222222222-01";

fn traced(parent: &str) -> Value {
    json!({ "traceparent": parent, "tracestate": "vendor=1" })
}

fn shown(trace: Option<TraceContext>) -> String {
    trace.map_or("none".to_owned(), |trace| {
        let state = trace.tracestate().unwrap_or("no state");
        format!("{} {state}", trace.traceparent())
    })
}

#[mcp_task]
async fn traceable() -> Result<String, ToolError> {
    let before = shown(trace_context());
    let inside = step(ask_inside()).await?;
    ask_user::<()>("Go on?").key("answer").await?;
    tracing::info!("goes on");
    Ok([before, inside, shown(trace_context())].join("\n"))
}

async fn ask_inside() -> Result<String, String> {
    Ok(shown(trace_context()))
}

fn expected(parent: &str) -> String {
    [
        format!("{parent} vendor=1"),
        format!("{parent} vendor=1"),
        format!("{parent} vendor=1"),
    ]
    .join("\n")
}

#[tokio::test(start_paused = true)]
async fn the_trace_of_the_call_is_there_after_a_restart() {
    let heard = Heard::listen();
    let mut server = Server::start(|builder| builder.task(traceable));
    let params = json!({ "name": "traceable", "arguments": {} });
    let created = server.send("tools/call", params, traced(PARENT)).await;
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    server.until(&id, "input_required").await;
    let tasks = server.router.runtime().tasks();
    let journal = tasks
        .journal(&TaskId::from_text(&id))
        .await
        .unwrap()
        .unwrap();
    // It is read as it was written.
    let journal: Journal = journal.to_string().parse().unwrap();
    let Event::Created(recorded) = &journal.entries()[0].event else {
        panic!("it begins otherwise: {journal}");
    };
    let trace = recorded.trace.as_deref().unwrap();
    assert_eq!(trace.traceparent(), PARENT);
    server.crash().await;
    let response = json!({ "action": "accept", "content": {} });
    let params = json!({ "taskId": id, "inputResponses": { "answer": response } });
    // The answer's own trace is another.
    server.send("tasks/update", params, traced(OTHER)).await;
    let ended = server.until(&id, "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], expected(PARENT));
    let all = heard.all();
    let own = all.iter().find(|said| said.message == "goes on").unwrap();
    let field = format!("traceparent={PARENT} ");
    assert!(own.spans[0].contains(&field), "{own:?}");
    assert_eq!(trace_context(), None);
}

#[tokio::test(start_paused = true)]
async fn the_trace_of_the_first_round_is_that_of_the_call() {
    let server = Server::start(|builder| builder.task(traceable));
    let meta = |parent| {
        let mut meta = traced(parent);
        meta["capabilities"] = json!({ "elicitation": {} });
        meta
    };
    let mut params = json!({ "name": "traceable", "arguments": {} });
    let asked = server
        .send("tools/call", params.clone(), meta(PARENT))
        .await;
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({ "answer": { "action": "accept", "content": {} } });
    let reply = server.send("tools/call", params, meta(OTHER)).await;
    assert_eq!(reply["result"]["content"][0]["text"], expected(PARENT));
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_trace_or_with_a_malformed_one_has_none() {
    let server = Server::start(|builder| builder.task(traceable));
    for meta in [json!({}), traced("00-nonsense")] {
        let params = json!({ "name": "traceable", "arguments": {} });
        let created = server.send("tools/call", params, meta).await;
        let id = created["result"]["taskId"].as_str().unwrap().to_owned();
        server.until(&id, "input_required").await;
        let response = json!({ "action": "accept", "content": {} });
        let params = json!({ "taskId": id, "inputResponses": { "answer": response } });
        server.send("tasks/update", params, json!({})).await;
        let ended = server.until(&id, "completed").await;
        assert_eq!(ended["result"]["content"][0]["text"], "none\nnone\nnone");
    }
}
