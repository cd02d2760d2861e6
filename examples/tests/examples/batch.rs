//! `batch`: ten thousand items, and a server that is killed among them.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_tasks_tests::{Client, Launch, Transport};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How far the task says it is.
fn done(task: &Value) -> u64 {
    let progress = &task["_meta"]["rs.mcp-tasks/progress"];
    assert!(progress.is_null() || progress["total"] == 10_000, "{task}");
    progress["done"].as_u64().unwrap_or_default()
}

/// Polls until it is at least so far; it never goes back from `least`.
async fn until_done(client: &Client, id: &str, least: u64, wanted: u64) -> u64 {
    let reached = |task: &Value| {
        assert!(done(task) >= least, "progress was lost: {task}");
        done(task) >= wanted
    };
    done(
        &client
            .until_task(id, &format!("at {wanted}"), reached)
            .await,
    )
}

/// How often each chunk began and was done, by its first parcel.
fn log(directory: &Path) -> BTreeMap<u64, [usize; 2]> {
    let mut chunks: BTreeMap<u64, [usize; 2]> = BTreeMap::new();
    for line in std::fs::read_to_string(directory.join("log.txt"))
        .unwrap()
        .lines()
    {
        let (first, word) = line.split_once(' ').unwrap();
        let times = chunks.entry(first.parse().unwrap()).or_default();
        times[usize::from(word == "done")] += 1;
    }
    chunks
}

#[tokio::test]
async fn what_is_done_is_not_done_again_after_kill_9() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().to_str().unwrap();
    let mut server = Launch::example(env!("CARGO_BIN_EXE_batch"), Transport::Http)
        .flags(&["--directory", path])
        .start()
        .await;
    let id = server.client().task("batch", json!({ "pause": 20 })).await;

    let mut seen = 0;
    for wanted in [2_000, 5_000] {
        seen = until_done(&server.client(), &id, seen, wanted).await;
        assert!(seen < 10_000, "it was over before it could be killed");
        server.restart().await;
        // It goes on by itself, from where it was, without anybody asking.
        seen = until_done(&server.client(), &id, seen, wanted + 1_000).await;
    }
    let words = server.client().until_text(&id).await;
    assert_eq!(words, format!("10000 labels, 149900 bytes, are in {path}"));

    let chunks = log(directory.path());
    let every_hundred: Vec<u64> = (0..10_000).step_by(100).collect();
    assert_eq!(chunks.keys().copied().collect::<Vec<_>>(), every_hundred);
    // Of each kill, at most the one step that was under way.
    let twice = chunks.values().filter(|[began, _]| *began > 1).count();
    assert!(twice <= 2, "{chunks:?}");
    let first_kill = chunks.range(..2_000);
    for (first, times) in first_kill {
        assert_eq!(*times, [1, 1], "{first}");
    }
    for first in every_hundred {
        let labels = directory.path().join(format!("{first:07}.txt"));
        let labels = std::fs::read_to_string(labels).unwrap();
        assert_eq!(labels.lines().count(), 100);
        assert_eq!(labels.lines().next(), Some(&*format!("parcel {first:07}")));
    }
}

#[tokio::test]
async fn a_client_over_stdio_resumes_what_another_process_began() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().to_str().unwrap();
    let launch = Launch::example(env!("CARGO_BIN_EXE_batch"), Transport::Stdio)
        .flags(&["--directory", path]);
    let mut server = launch.start().await;
    let small = json!({ "parcels": 250, "chunk": 50, "pause": 20 });
    let id = server.client().task("batch", small).await;
    server.kill().await;
    let server = launch.start().await;
    let words = server.client().until_text(&id).await;
    assert!(words.starts_with("250 labels"), "{words}");
    let chunks = log(directory.path());
    assert_eq!(chunks.len(), 5);
    assert!(chunks.values().all(|[_, done]| *done >= 1), "{chunks:?}");
}
