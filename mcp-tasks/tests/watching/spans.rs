//! What a function logs itself stands in its task's span.

use mcp_tasks::prelude::*;
use serde_json::json;

use crate::heard::Heard;
use crate::server::Server;

#[mcp_task(version = 3)]
async fn chatty() -> Result<(), ToolError> {
    tracing::info!("begun");
    step(talk()).await?;
    ask_user::<()>("Go on?").key("answer").await?;
    tracing::info!("goes on");
    Ok(())
}

async fn talk() -> Result<(), String> {
    tokio::task::yield_now().await;
    tracing::info!("in a step");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_functions_own_events_say_whose_they_are() {
    let heard = Heard::listen();
    let mut server = Server::start(|builder| builder.task(chatty));
    let id = server.task("chatty", json!({})).await;
    server.until(&id, "input_required").await;
    server.crash().await;
    let response = json!({ "action": "accept", "content": {} });
    let params = json!({ "taskId": id, "inputResponses": { "answer": response } });
    server.send("tasks/update", params, json!({})).await;
    server.until(&id, "completed").await;
    let own: Vec<_> = heard
        .all()
        .into_iter()
        .filter(|said| said.target.starts_with("watching"))
        .collect();
    for said in &own {
        let span = said.spans.last().expect("it is in a span");
        assert!(span.starts_with("task: "), "{said:?}");
        for field in [&*format!("id={id} "), "tool=chatty ", "version=3 "] {
            assert!(span.contains(field), "{said:?}");
        }
        // Of the request that began it, it is no part.
        assert_eq!(said.spans.len(), 1, "{said:?}");
    }
    // Whoever passes over replays hears each once.
    let words = |replays_too: bool| -> Vec<&str> {
        let own = own.iter().filter(|said| replays_too || !said.replaying);
        own.map(|said| &*said.message).collect()
    };
    assert_eq!(words(false), ["begun", "in a step", "goes on"]);
    assert_eq!(words(true), ["begun", "in a step", "begun", "goes on"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_has_a_span_that_says_what_it_was_about() {
    let heard = Heard::listen();
    let server = Server::start(|builder| builder.task(chatty));
    let id = server.task("chatty", json!({})).await;
    let params = json!({ "taskId": "never" });
    server.send("tasks/get", params, json!({})).await;
    let said = heard.all();
    let refused = said.iter().find(|said| said.message == "refused").unwrap();
    assert_eq!(refused.spans, ["request: method=tasks/get code=-32602 "]);
    let created = said.iter().find(|said| said.message == "created").unwrap();
    assert_eq!(created.spans, ["request: method=tools/call tool=chatty "]);
    assert!(created.fields.contains(&id));
}
