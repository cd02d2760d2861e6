//! SIGTERM: nothing new begins, what waits is put down at once, steps that run
//! end, and nothing is lost.

use std::time::{Duration, Instant};

use mcp_tasks_tests::Transport;
use mcp_tasks_tests::rounds::text;
use serde_json::json;
use tokio::time::sleep;

use super::{Store, on_every_shared_store};

on_every_shared_store! {
    a_server_with_waiting_tasks_ends_at_once_and_loses_nothing,
    a_step_that_runs_ends_and_does_not_run_again,
    a_call_that_runs_inline_gets_its_reply,
}

async fn a_server_with_waiting_tasks_ends_at_once_and_loses_nothing(
    store: Store,
    transport: Transport,
) {
    let mut server = store.durable(transport, &[]).await;
    let client = server.client();
    let mut waiting = Vec::new();
    for _ in 0..20 {
        let id = client.task("ask1", json!({})).await;
        client.until_asked(&id, None).await;
        waiting.push(id);
    }
    let begun = Instant::now();
    let status = server.terminate().await;
    assert!(status.success(), "{status}: {}", server.said());
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    server.start_again().await;
    let client = server.client();
    for id in waiting {
        let key = client.until_asked(&id, None).await;
        client.answer(&id, &key, "42").await;
        assert_eq!(client.until_text(&id).await, "got: 42");
    }
}

async fn a_step_that_runs_ends_and_does_not_run_again(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let client = server.client();
    let id = client.task("slow", json!({ "ms": 1500 })).await;
    sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let status = server.terminate().await;
    assert!(status.success(), "{status}: {}", server.said());
    let took = begun.elapsed();
    assert!(
        took > Duration::from_secs(1) && took < Duration::from_secs(3),
        "{took:?}"
    );
    server.start_again().await;
    let begun = Instant::now();
    assert_eq!(server.client().until_text(&id).await, "done");
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}

async fn a_call_that_runs_inline_gets_its_reply(store: Store, transport: Transport) {
    let mut server = store.durable(transport, &[]).await;
    let client = server
        .client()
        .declaring(mcp_tasks_tests::Declares::NoTasks);
    // It is up.
    client.stats().await;
    let call = tokio::spawn(async move { client.call("slow", json!({ "ms": 1000 })).await });
    sleep(Duration::from_millis(300)).await;
    let status = server.terminate().await;
    assert!(status.success(), "{status}: {}", server.said());
    let reply = call.await.expect("the call does not panic");
    assert_eq!(text(&reply), "done");
}
