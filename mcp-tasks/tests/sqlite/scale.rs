//! A hundred thousand waiting tasks cost nothing until something arrives.

use std::time::{Duration, Instant};

use mcp_tasks::store::{Activity, TaskStore};
use mcp_tasks::task::TaskId;
use rusqlite::Connection;
use tempfile::tempdir;

use crate::tasks::{answer, asking, claim_all, create, enlisted, now};

const MANY: u32 = 100_000;

/// Copies the one task in a file until there are very many.
fn multiply(file: &std::path::Path) {
    let connection = Connection::open(file).unwrap();
    let copies = format!(
        "BEGIN;
         WITH RECURSIVE copy (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM copy WHERE n < {MANY})
         INSERT INTO tasks SELECT n, 'task-' || n, code, caller, holder, fencing, seq, status,
             ended, running, unseen, distrust, held, held_first, held_last, held_build, wake_at,
             due_at + n, snapshot, state FROM tasks, copy WHERE task = 1;
         INSERT INTO journal SELECT copy.task, one.seq, one.at, one.format, one.event
             FROM tasks AS copy, journal AS one WHERE copy.task > 1 AND one.task = 1;
         UPDATE totals SET live = {MANY}, stored = {MANY};
         COMMIT;"
    );
    connection.execute_batch(&copies).unwrap();
}

#[tokio::test]
async fn a_server_with_very_many_waiting_tasks_starts_at_once() {
    let directory = tempdir().unwrap();
    for (name, then) in [("parked", Activity::Parked), ("left", Activity::Waiting)] {
        let file = directory.path().join(name);
        let store = enlisted(&file).await;
        asking(&store, "task-1", then).await;
        drop(store);
        multiply(&file);

        let began = Instant::now();
        let store = enlisted(&file).await;
        assert!(claim_all(&store).await.is_empty());
        assert!(store.elapse(100, now()).await.unwrap().changes.is_empty());
        let started = began.elapsed();
        println!("{name}: started in {started:?}");
        assert!(started < Duration::from_millis(500), "{started:?}");

        let began = Instant::now();
        assert!(answer(&store, &TaskId::from_text("task-70000")).await);
        assert_eq!(claim_all(&store).await.len(), 1);
        create(&store, "another").await;
        assert_eq!(store.stats().await.unwrap().live, u64::from(MANY) + 1);
        let answered = began.elapsed();
        println!("{name}: answered and claimed in {answered:?}");
        assert!(answered < Duration::from_millis(500), "{answered:?}");
    }
}
