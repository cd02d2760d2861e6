//! So many functions run at once over all processes: c93 with more than one.

use std::path::Path;
use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, PATIENCE, Transport};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{durable, over_every_transport};

over_every_transport! {
    c93_so_many_functions_of_a_tool_run_at_once_in_all_processes,
    c93_a_killed_process_frees_its_seats,
    c93_a_paused_process_frees_its_seats,
    c93_what_waits_for_a_seat_is_cancelled_at_once,
}

/// What was written of the work of a tool: `+` where some began, `-` where it
/// was done.
fn written(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// How many were at work at once.
fn most_at_once(file: &Path) -> i32 {
    let mut now = 0;
    let all = written(file)
        .chars()
        .map(|sign| {
            now += if sign == '+' { 1 } else { -1 };
            now
        })
        .collect::<Vec<_>>();
    assert_eq!(now, 0, "all are done");
    all.into_iter().max().unwrap_or_default()
}

/// Waits until so many have begun.
async fn until_begun(file: &Path, count: usize) {
    let deadline = Instant::now() + PATIENCE;
    while written(file).matches('+').count() < count {
        assert!(Instant::now() < deadline, "only {}", written(file));
        sleep(Duration::from_millis(5)).await;
    }
}

async fn start(client: &Client, file: &Path, ms: u64) -> String {
    client
        .task("limited", json!({ "file": file, "ms": ms }))
        .await
}

async fn c93_so_many_functions_of_a_tool_run_at_once_in_all_processes(transport: Transport) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("work.txt");
    let a = durable(transport, &[]).await;
    let b = a.launch().clone().over(transport.other()).start().await;
    let mut ids = Vec::new();
    for _ in 0..25 {
        for server in [&a, &b] {
            ids.push(start(&server.client(), &file, 20).await);
        }
    }
    for id in &ids {
        assert_eq!(b.client().until_text(id).await, "done");
    }
    assert_eq!(written(&file).len(), 100);
    assert_eq!(most_at_once(&file), 2);
}

async fn c93_a_killed_process_frees_its_seats(transport: Transport) {
    let folder = TempDir::new().unwrap();
    let [long, short] = ["long.txt", "short.txt"].map(|name| folder.path().join(name));
    let mut a = durable(transport, &["--lease", "1500"]).await;
    let b = a.launch().clone().over(transport.other()).start().await;
    let client = b.client();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(start(&a.client(), &long, 60_000).await);
    }
    until_begun(&long, 2).await;
    let waiting = start(&client, &short, 10).await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!(client.get(&waiting).await["status"], "working");
    assert_eq!(written(&short), "");
    a.kill().await;
    let killed = Instant::now();
    assert_eq!(client.until_text(&waiting).await, "done");
    assert!(
        killed.elapsed() < Duration::from_secs(5),
        "{:?}",
        killed.elapsed()
    );
    // What it ran is run again, on seats of its own.
    until_begun(&long, 4).await;
    for id in &ids {
        client.cancelled(id).await;
    }
    let last = start(&client, &short, 10).await;
    assert_eq!(client.until_text(&last).await, "done");
}

async fn c93_a_paused_process_frees_its_seats(transport: Transport) {
    let folder = TempDir::new().unwrap();
    let [long, short] = ["long.txt", "short.txt"].map(|name| folder.path().join(name));
    let a = durable(transport, &["--lease", "1500"]).await;
    let b = a.launch().clone().over(transport.other()).start().await;
    let client = b.client();
    let arguments = json!({ "file": long, "ms": 60_000 });
    // One is a task, and one a call that somebody waits for.
    let call = {
        let caller = a.client().declaring(mcp_tasks_tests::Declares::NoTasks);
        let arguments = arguments.clone();
        tokio::spawn(async move { caller.call("limited", arguments).await })
    };
    let id = a.client().task("limited", arguments).await;
    until_begun(&long, 2).await;
    let waiting = start(&client, &short, 10).await;
    crate::processes::pause_between_writes(&a).await;
    assert_eq!(client.until_text(&waiting).await, "done");
    until_begun(&long, 3).await;
    // It wakes up and has nothing to say about either.
    a.unpause();
    let reply = call.await.unwrap();
    reply.refused(-32603, &["try again"]);
    assert_eq!(client.get(&id).await["status"], "working");
    client.cancelled(&id).await;
    let again = start(&a.client(), &short, 10).await;
    assert_eq!(client.until_text(&again).await, "done");
}

async fn c93_what_waits_for_a_seat_is_cancelled_at_once(transport: Transport) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("work.txt");
    let a = durable(transport, &[]).await;
    let b = a.launch().clone().over(transport.other()).start().await;
    for server in [&a, &b] {
        start(&server.client(), &file, 60_000).await;
    }
    until_begun(&file, 2).await;
    let waiting = start(&a.client(), &file, 10).await;
    let asked = Instant::now();
    b.client().cancelled(&waiting).await;
    for server in [&a, &b] {
        assert_eq!(server.client().get(&waiting).await["status"], "cancelled");
    }
    assert!(asked.elapsed() < Duration::from_secs(1));
    a.client()
        .until_stats("rid of it", |stats| stats["resident"] == 1)
        .await;
}
