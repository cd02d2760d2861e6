//! Tasks whose server is killed and started again: c21 and c31 once more, and
//! c60 to c69.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, Transport, acknowledged, keys};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{Store, durable, on_every_shared_store, over_every_transport};

on_every_shared_store! {
    c21_a_loop_asks_on_where_it_was,
    c31_the_requested_schema_survives_a_restart,
    c60_a_question_survives_a_kill,
    c60_many_questions_survive_and_no_function_is_run_for_them,
    c61_a_step_without_a_result_runs_again,
    c61_a_function_that_must_not_run_again_fails_and_says_why,
    c62_recorded_steps_do_not_run_again,
    c64_an_acknowledged_answer_is_there,
    c64_an_acknowledged_answer_is_there_beside_an_open_question,
    c65_a_timer_that_is_overdue_rings_at_once,
    c65_a_timer_rings_on_time,
    c66_an_acknowledged_cancellation_is_final,
    c66_a_cancelled_task_cleans_up_after_the_restart,
    c69_the_argument_of_a_recorded_step_is_not_evaluated,
}

over_every_transport! {
    c61_a_step_goes_on_after_its_server_was_told_to_end,
}

async fn c21_a_loop_asks_on_where_it_was(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let id = server.client().task("ask_loop", json!({"n": 5})).await;
    let mut seen: Vec<String> = Vec::new();
    for round in 1..=5 {
        let last = seen.last().map(String::as_str);
        let key = server.client().until_asked(&id, last).await;
        // Before an answer, and after one.
        server.restart().await;
        let client = server.client();
        assert_eq!(keys(&client.get(&id).await), [key.as_str()]);
        client.answer(&id, &key, &round.to_string()).await;
        if round % 2 == 0 {
            server.restart().await;
        }
        seen.push(key);
    }
    assert_eq!(server.client().until_text(&id).await, "1,2,3,4,5");
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 5, "{seen:?}");
}

async fn c31_the_requested_schema_survives_a_restart(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let client = server.client();
    let id = client.task("form", json!({})).await;
    client.until_asked(&id, None).await;
    let before = client.try_get(&id).await;
    server.restart().await;
    let client = server.client();
    let after = client.try_get(&id).await;
    assert_eq!(
        after.member("inputRequests"),
        before.member("inputRequests")
    );
    let other = client.task("form", json!({})).await;
    client.until_asked(&other, None).await;
    let new = client.try_get(&other).await;
    assert_eq!(
        new.member("requestedSchema"),
        before.member("requestedSchema")
    );
}

async fn c60_a_question_survives_a_kill(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let client = server.client();
    let id = client.task("ask1", json!({})).await;
    let key = client.until_asked(&id, None).await;
    let before = client.try_get(&id).await;
    server.restart().await;
    let client = server.client();
    assert_eq!(
        client.try_get(&id).await.member("result"),
        before.member("result")
    );
    // What the schema refuses, it refuses now.
    let wrong = json!({ &key: { "action": "accept", "content": { "answer": 7 } } });
    client
        .update(&id, wrong)
        .await
        .refused(-32602, &[&key, "answer"]);
    client.answer(&id, &key, "grüße").await;
    assert_eq!(client.until_text(&id).await, "got: grüße");
    // What it came to is there as well.
    let ended = client.get(&id).await;
    server.restart().await;
    assert_eq!(server.client().get(&id).await, ended);
}

async fn c60_many_questions_survive_and_no_function_is_run_for_them(
    store: Store,
    transport: Transport,
) {
    let mut server = store.durable(transport, &[]).await;
    let client = server.client();
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(client.task("ask1", json!({})).await);
    }
    for id in &ids {
        client.until_asked(id, None).await;
    }
    server.restart().await;
    let client = server.client();
    let stats = client.stats().await;
    assert_eq!(
        (&stats["live"], &stats["resident"]),
        (&json!(50), &json!(0))
    );
    for id in &ids {
        client.answer(id, "answer", id).await;
    }
    for id in &ids {
        assert_eq!(client.until_text(id).await, format!("got: {id}"));
    }
}

async fn c61_a_step_without_a_result_runs_again(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let id = server.client().task("slow", json!({"ms": 600})).await;
    for _ in 0..2 {
        assert_eq!(server.client().get(&id).await["status"], "working");
        server.restart().await;
    }
    let started = Instant::now();
    assert_eq!(server.client().until_text(&id).await, "done");
    assert!(
        started.elapsed() >= Duration::from_millis(400),
        "it had gone on"
    );
}

async fn c61_a_step_goes_on_after_its_server_was_told_to_end(transport: Transport) {
    // No time for a step that runs.
    let mut server = durable(transport, &["--shutdown-grace", "0"]).await;
    let client = server.client();
    let asking = client.task("ask1", json!({})).await;
    let key = client.until_asked(&asking, None).await;
    let working = client.task("slow", json!({"ms": 1000})).await;
    assert_eq!(client.get(&working).await["status"], "working");
    let status = server.stop().await;

    let mut server = server.launch().start().await;
    let runs = |stats: &Value| stats["resident"] == 1;
    server.client().until_stats("at work", runs).await;
    server.kill().await;
    // An end in good order: the task is not suspected of having caused it.
    assert!(status.success(), "{status}");
    let journal = server.file().journal(&working);
    let recovery = |event: &Value| event["recovery_started"].is_object();
    assert!(!journal.iter().any(recovery), "{journal:?}");

    server.restart().await;
    let client = server.client();
    assert_eq!(client.until_text(&working).await, "done");
    client.answer(&asking, &key, "yes").await;
    assert_eq!(client.until_text(&asking).await, "got: yes");
}

async fn c61_a_function_that_must_not_run_again_fails_and_says_why(
    store: Store,
    transport: Transport,
) {
    let mut server = store.durable(transport, &[]).await;
    let id = server
        .client()
        .task("slow_once", json!({"ms": 60_000}))
        .await;
    assert_eq!(server.client().get(&id).await["status"], "working");
    server.restart().await;
    let task = server.client().until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32603, "{task}");
    for words in [&task["statusMessage"], &task["error"]["message"]] {
        let words = words.as_str().unwrap_or_else(|| panic!("no words: {task}"));
        assert!(words.contains("replay = false"), "{words}");
    }
}

/// A file for a tool to write to.
fn scratch(folder: &TempDir) -> PathBuf {
    folder.path().join("written.txt")
}

async fn c62_recorded_steps_do_not_run_again(store: Store, transport: Transport) {
    let folder = TempDir::new().unwrap();
    let file = scratch(&folder);
    let mut server = store.durable(transport, &[]).await;
    let id = server.client().task("side", json!({ "file": file })).await;
    let key = server.client().until_asked(&id, None).await;
    server.restart().await;
    server.restart().await;
    server.client().answer(&id, &key, "go").await;
    assert_eq!(server.client().until_text(&id).await, "ab");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "ab");
}

async fn c64_an_acknowledged_answer_is_there(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    for round in 0..10 {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        client.answer(&id, &key, &round.to_string()).await;
        server.restart().await;
        let client = server.client();
        assert!(keys(&client.get(&id).await).is_empty());
        // The first counts, even if nobody has heard of it.
        client.answer(&id, &key, "another").await;
        assert_eq!(client.until_text(&id).await, format!("got: {round}"));
    }
}

async fn c64_an_acknowledged_answer_is_there_beside_an_open_question(
    store: Store,
    transport: Transport,
) {
    let mut server = store.durable(transport, &[]).await;
    let client = server.client();
    let id = client.task("askpar", json!({})).await;
    client
        .until_task(&id, "two questions", |task| keys(task).len() == 2)
        .await;
    client.answer(&id, "right/answer", "R").await;
    server.restart().await;
    let client = server.client();
    let task = client.get(&id).await;
    assert_eq!(task["status"], "input_required");
    assert_eq!(keys(&task), ["left/answer"]);
    client.answer(&id, "left/answer", "L").await;
    server.restart().await;
    assert_eq!(server.client().until_text(&id).await, "L,R");
}

async fn c65_a_timer_that_is_overdue_rings_at_once(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let id = server.client().task("timer", json!({"ms": 2000})).await;
    server.kill().await;
    sleep(Duration::from_secs(3)).await;
    server.restart().await;
    let started = Instant::now();
    assert_eq!(server.client().until_text(&id).await, "rang");
    // Who comes to a database waits for a lease to be sure that the other is dead.
    let at_once = match store {
        Store::Postgres => Duration::from_secs(2),
        Store::Memory | Store::Sqlite => Duration::from_secs(1),
    };
    assert!(started.elapsed() < at_once, "{:?}", started.elapsed());
}

async fn c65_a_timer_rings_on_time(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let called = Instant::now();
    let id = server.client().task("timer", json!({"ms": 2000})).await;
    let created = Instant::now();
    server.kill().await;
    sleep(Duration::from_millis(500)).await;
    server.restart().await;
    assert_eq!(server.client().until_text(&id).await, "rang");
    assert!(
        called.elapsed() >= Duration::from_secs(2),
        "{:?}",
        called.elapsed()
    );
    assert!(
        created.elapsed() < Duration::from_secs(3),
        "{:?}",
        created.elapsed()
    );
}

async fn c66_an_acknowledged_cancellation_is_final(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let mut cancelled = Vec::new();
    for (tool, arguments) in [
        ("ask1", json!({})),
        ("slow", json!({"ms": 60_000})),
        ("slow_once", json!({"ms": 60_000})),
        ("timer", json!({"ms": 1000})),
        ("wait_signal", json!({})),
    ] {
        let client = server.client();
        let id = client.task(tool, arguments).await;
        if tool == "ask1" {
            client.until_asked(&id, None).await;
        }
        client.cancelled(&id).await;
        server.restart().await;
        let client = server.client();
        let task = client.get(&id).await;
        assert_eq!(task["status"], "cancelled", "{tool}: {task}");
        let answer = json!({ "answer": { "action": "accept", "content": { "answer": "late" } } });
        acknowledged(&client.update(&id, answer).await);
        cancelled.push((id, task));
    }
    // Past the timer of one of them.
    sleep(Duration::from_millis(1100)).await;
    for (id, task) in &cancelled {
        assert_eq!(server.client().get(id).await, *task);
    }
    let stats = server.client().stats().await;
    assert_eq!((&stats["live"], &stats["resident"]), (&json!(0), &json!(0)));
}

async fn c66_a_cancelled_task_cleans_up_after_the_restart(store: Store, transport: Transport) {
    for (ms, ended) in [(0, "completed"), (60_000, "cancelled")] {
        let mut server = store.durable(transport, &[]).await;
        let client = server.client();
        let id = client.task("grace", json!({ "ms": ms })).await;
        client.until_asked(&id, None).await;
        let asked = Instant::now();
        client.cancelled(&id).await;
        server.restart().await;
        let task = server.client().until(&id, ended).await;
        if ended == "completed" {
            assert_eq!(task["result"]["content"][0]["text"], "cleaned up");
        } else {
            assert!(asked.elapsed() >= Duration::from_millis(1900));
        }
        assert!(asked.elapsed() < Duration::from_secs(4));
        gone(&server.client()).await;
    }
}

/// Waits until no function is in memory.
async fn gone(client: &Client) -> Value {
    client
        .until_stats("rid of all functions", |stats| stats["resident"] == 0)
        .await
}

async fn c69_the_argument_of_a_recorded_step_is_not_evaluated(store: Store, transport: Transport) {
    let folder = TempDir::new().unwrap();
    let file = scratch(&folder);
    let mut server = store.durable(transport, &[]).await;
    let id = server.client().task("eager", json!({ "file": file })).await;
    let key = server.client().until_asked(&id, None).await;
    server.restart().await;
    server.client().answer(&id, &key, "go").await;
    assert_eq!(server.client().until_text(&id).await, "x");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
}
