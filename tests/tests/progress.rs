//! `notifications/progress` for calls that are no tasks, over both transports.

use mcp_tasks_tests::rounds::{Asked, accepted};
use mcp_tasks_tests::{Client, Declares, Fixture, Session, Told, Transport, over_every_transport};
use serde_json::{Value, json};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

over_every_transport! {
    a_call_tells_how_it_goes,
    what_follows_quickly_is_told_seldom_and_the_last_always,
    without_a_token_nothing_is_told,
    a_call_with_nothing_to_tell_is_answered_as_ever,
    a_task_tells_in_itself,
    a_round_tells_too,
    sessions_are_told,
}

async fn server(transport: Transport) -> Fixture {
    match transport {
        Transport::Http => Fixture::http(FIXTURES, &[]).await,
        Transport::Stdio => Fixture::stdio(FIXTURES, &[]).await,
    }
}

fn without_tasks(server: &Fixture) -> Client {
    server.client().declaring(Declares::NoTasks)
}

fn words(told: &Told) -> Vec<&str> {
    told.updates
        .iter()
        .map(|update| update["message"].as_str().expect("words"))
        .collect()
}

async fn a_call_tells_how_it_goes(transport: Transport) {
    let server = server(transport).await;
    let client = without_tasks(&server);
    for token in [json!("a \u{e4}"), json!(7)] {
        let arguments = json!({ "steps": 3, "ms": 100 });
        let told = client.told("report", arguments, Some(token.clone())).await;
        assert_eq!(told.reply.tool_text(), "done");
        assert_eq!(words(&told), ["step 1", "step 2", "step 3", "finished"]);
        told.grows(&token);
        for (number, update) in (1..).zip(&told.updates[..3]) {
            assert_eq!(update["progress"], number, "{told:?}");
            assert_eq!(update["total"], 3, "{told:?}");
        }
        if transport == Transport::Http {
            assert_eq!(told.media_type.as_deref(), Some("text/event-stream"));
        }
    }
}

async fn what_follows_quickly_is_told_seldom_and_the_last_always(transport: Transport) {
    let server = server(transport).await;
    let client = without_tasks(&server);
    let started = tokio::time::Instant::now();
    let arguments = json!({ "steps": 200, "ms": 1 });
    let told = client.told("report", arguments, Some(json!("t"))).await;
    let intervals = started.elapsed().as_millis() / 25;
    assert_eq!(told.reply.tool_text(), "done");
    told.grows(&json!("t"));
    let words = words(&told);
    assert_eq!(words.first(), Some(&"step 1"));
    assert_eq!(words.last(), Some(&"finished"));
    assert!(
        (words.len() as u128) <= intervals + 2,
        "{intervals} {words:?}"
    );
}

async fn without_a_token_nothing_is_told(transport: Transport) {
    let server = server(transport).await;
    let client = without_tasks(&server);
    // What is no token does not count as one.
    for token in [None, Some(json!({})), Some(json!(1.5)), Some(Value::Null)] {
        let told = client
            .told("report", json!({ "steps": 1, "ms": 1 }), token)
            .await;
        assert_eq!(told.reply.tool_text(), "done");
        assert!(told.updates.is_empty(), "{told:?}");
        let json = (transport == Transport::Http).then_some("application/json");
        assert_eq!(told.media_type.as_deref(), json);
    }
}

async fn a_call_with_nothing_to_tell_is_answered_as_ever(transport: Transport) {
    let server = server(transport).await;
    let client = without_tasks(&server);
    let token = || Some(json!("t"));
    let told = client.told("sync", json!({}), token()).await;
    told.reply.result();
    let json = (transport == Transport::Http).then_some("application/json");
    assert_eq!(told.media_type.as_deref(), json);
    // Errors keep their status.
    let told = client.told("required", json!({}), token()).await;
    told.reply.refused(-32021, &["only runs as a task"]);
    assert_eq!(told.media_type.as_deref(), json);
    let status = (transport == Transport::Http).then_some(400);
    assert_eq!(told.reply.status, status);
    let told = client.told("no_such_tool", json!({}), token()).await;
    told.reply.failure();
}

async fn a_task_tells_in_itself(transport: Transport) {
    let server = server(transport).await;
    let client = server.client();
    let told = client
        .told("report", json!({ "steps": 2, "ms": 1 }), Some(json!("t")))
        .await;
    assert!(told.updates.is_empty(), "{told:?}");
    let created = told.reply.result();
    assert_eq!(created["resultType"], "task", "{told:?}");
    let id = created["taskId"].as_str().unwrap();
    assert_eq!(client.until_text(id).await, "done");
    let told = client.told("sync", json!({}), None).await;
    assert!(told.updates.is_empty(), "{told:?}");
}

async fn a_round_tells_too(transport: Transport) {
    let server = server(transport).await;
    let client = without_tasks(&server);
    let told = client
        .told("report_and_ask", json!({}), Some(json!("t")))
        .await;
    assert_eq!(words(&told), ["before"]);
    assert_eq!(told.reply.result()["resultType"], "input_required");
    let asked = Asked::of(&told.reply, "report_and_ask", json!({}));
    let reply = client
        .retry(
            &asked,
            json!({ "sure": accepted(json!({ "answer": true })) }),
        )
        .await;
    assert_eq!(reply.tool_text(), "true");
}

async fn sessions_are_told(transport: Transport) {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let mut session = Session::open(FIXTURES, transport, version, json!({})).await;
        let params = json!({
            "name": "report", "arguments": { "steps": 2, "ms": 300 },
            "_meta": { "progressToken": "t" },
        });
        let id = session.request("tools/call", params).await;
        let mut last = f64::NEG_INFINITY;
        for words in ["step 1", "step 2", "finished"] {
            let said = session.next().await;
            assert_eq!(said.message["method"], "notifications/progress", "{said:?}");
            let params = &said.message["params"];
            assert_eq!(params["progressToken"], "t", "{said:?}");
            assert_eq!(params["message"], words, "{said:?}");
            assert_eq!(params["total"], 2.0, "{said:?}");
            let progress = params["progress"].as_f64().unwrap();
            assert!(progress > last, "{said:?}");
            last = progress;
            let on = (transport == Transport::Http).then_some(id);
            assert_eq!(said.on, on, "not on the call's own stream");
        }
        assert_eq!(session.text(id).await, "done");
        let id = session.call("report", json!({ "steps": 1, "ms": 1 })).await;
        assert_eq!(session.text(id).await, "done");
    }
}
