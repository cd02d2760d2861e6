//! How tasks live and end: c40 to c49.

use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, Declares};
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::{Store, on_every_store};

on_every_store! {
    c40_cancel_is_final,
    c40_cancel_races_with_the_end_and_one_of_them_wins,
    c41_an_answer_does_not_revive_a_cancelled_task,
    c42_cancel_ends_a_task_at_work,
    c43_an_expired_task_fails_frees_its_slot_and_is_deleted,
    c44_a_task_at_work_fails_at_its_ttl,
    c45_an_extended_ttl_holds,
    c46_ended_tasks_leave_nothing_behind,
    c47_a_panic_fails_the_task_and_stays_secret,
    c48_a_tool_that_must_be_a_task_does_not_run_without,
    c49_within_its_grace_a_cancelled_task_cleans_up,
    c49_after_its_grace_a_task_is_cancelled,
}

async fn c40_cancel_is_final(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        for (tool, ended) in [("slow", "completed"), ("hard", "failed")] {
            let id = client.task(tool, json!({"ms": 1})).await;
            let before = client.until(&id, ended).await;
            client.cancelled(&id).await;
            client.cancelled(&id).await;
            assert_eq!(client.get(&id).await, before);
        }
    }
}

async fn c40_cancel_races_with_the_end_and_one_of_them_wins(store: Store) {
    for server in store.both(&[]).await {
        let races: Vec<_> = (0..200)
            .map(|number| {
                let client = server.client();
                tokio::spawn(async move {
                    let id = client.task("slow", json!({"ms": number % 5})).await;
                    sleep(Duration::from_millis(number % 7)).await;
                    client.cancelled(&id).await;
                    let ended = client
                        .until_task(&id, "ended", |task| task["status"] != "working")
                        .await;
                    client.cancelled(&id).await;
                    assert_eq!(client.get(&id).await, ended);
                    ended["status"].as_str().unwrap().to_owned()
                })
            })
            .collect();
        for race in races {
            let status = race.await.unwrap();
            assert!(
                ["completed", "cancelled"].contains(&status.as_str()),
                "{status}"
            );
        }
        let gone = |stats: &serde_json::Value| stats["live"] == 0 && stats["resident"] == 0;
        server.client().until_stats("rid of all", gone).await;
    }
}

async fn c41_an_answer_does_not_revive_a_cancelled_task(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        client.cancelled(&id).await;
        let before = client.until(&id, "cancelled").await;
        assert!(before.get("inputRequests").is_none(), "{before}");
        client.answer(&id, &key, "late").await;
        client.cancelled(&id).await;
        assert_eq!(client.get(&id).await, before);
        client
            .until_stats("rid of the function", |stats| stats["resident"] == 0)
            .await;
        assert_eq!(client.get(&id).await, before);
    }
}

async fn c42_cancel_ends_a_task_at_work(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        for tool in ["slow", "timer"] {
            let id = client.task(tool, json!({"ms": 60_000})).await;
            assert_eq!(client.get(&id).await["status"], "working");
            let asked = Instant::now();
            client.cancelled(&id).await;
            assert!(asked.elapsed() < Duration::from_secs(1));
            client.until(&id, "cancelled").await;
            client
                .until_stats("rid of the function", |stats| {
                    stats["live"] == 0 && stats["resident"] == 0
                })
                .await;
            assert!(asked.elapsed() < Duration::from_secs(2));
        }
    }
}

async fn c43_an_expired_task_fails_frees_its_slot_and_is_deleted(store: Store) {
    let server = store
        .http(&["--retention", "500", "--limit", "live=1"])
        .await;
    let client = server.client();
    let id = client.task("ttl_ask", json!({"ms": 1000})).await;
    let key = client.until_asked(&id, None).await;
    assert_eq!(client.get(&id).await["ttlMs"], 1000);
    client.call("ask1", json!({})).await.refused(-32603, &["1"]);

    let task = client.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32603, "{task}");
    let words = task["error"]["message"].as_str().unwrap();
    assert!(words.contains("expired"), "{task}");
    assert!(task["statusMessage"].is_string(), "{task}");
    client
        .until_stats("rid of the function", |stats| {
            stats["live"] == 0 && stats["resident"] == 0
        })
        .await;
    client.task("ask1", json!({})).await;

    let gone = loop {
        let reply = client.try_get(&id).await;
        if reply.message["result"].is_null() {
            break reply.refused(-32602, &["task"]);
        }
        assert_eq!(reply.result()["status"], "failed");
        sleep(Duration::from_millis(20)).await;
    };
    let answer = json!({ key: { "action": "accept", "content": { "answer": "late" } } });
    assert_eq!(client.update(&id, answer).await.failure(), gone);
    assert_eq!(client.cancel(&id).await.failure(), gone);
    assert_eq!(client.try_get("never").await.failure(), gone);
}

async fn c44_a_task_at_work_fails_at_its_ttl(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let called = Instant::now();
    let id = client
        .task("ttl_slow", json!({"ttl": 1000, "ms": 3000}))
        .await;
    let task = client.until(&id, "failed").await;
    assert!(called.elapsed() >= Duration::from_millis(950));
    assert!(called.elapsed() < Duration::from_millis(2900));
    client
        .until_stats("rid of the function", |stats| stats["resident"] == 0)
        .await;
    // Past the end of the body, had it gone on.
    let rest = Duration::from_millis(3200).saturating_sub(called.elapsed());
    sleep(rest).await;
    assert_eq!(client.get(&id).await, task);
    let said = server.said();
    assert!(!said.contains("panic"), "{said}");
}

async fn c45_an_extended_ttl_holds(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let id = client.task("extend", json!({})).await;
    assert_eq!(client.until_text(&id).await, "done");
    assert_eq!(client.get(&id).await["ttlMs"], 11_000);
}

/// Runs so many short tasks, some at a time, at 2,000 a second at most: with a
/// retention of 500 ms no more than 1,000 are ever kept, however many come.
async fn run_short_tasks(client: &Client, count: usize) {
    const AT_ONCE: usize = 16;
    const PACE: Duration = Duration::from_millis(8);
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut pace = interval(PACE);
                pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                for _ in 0..count / AT_ONCE {
                    pace.tick().await;
                    client.task("slow", json!({"ms": 0})).await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}

/// What is left when so many tasks have come and gone.
struct Left {
    /// Resident bytes, where the system tells.
    memory: Option<u64>,
    /// Bytes of the store beyond those of an empty one.
    store: u64,
}

async fn left_after(store: Store, count: usize) -> Left {
    let server = store.http(&["--retention", "500"]).await;
    let client = server.client();
    let bytes = |stats: &Value| stats["store_bytes"].as_u64().unwrap();
    let empty = bytes(&client.stats().await);
    run_short_tasks(&client, count).await;
    let stats = client
        .until_stats("empty", |stats| stats["stored"] == 0)
        .await;
    assert_eq!(stats["live"], 0);
    assert_eq!(stats["resident"], 0);
    if let Some(database) = server.launch().database() {
        let client = database.connect().await;
        for table in ["tasks", "journal"] {
            let count = format!("SELECT count(*) FROM mcp_tasks.{table}");
            let count = client.query_one(&count, &[]).await.unwrap();
            assert_eq!(count.get::<_, i64>(0), 0, "rows of {table}");
        }
    }
    Left {
        memory: server.resident_memory(),
        store: bytes(&stats).saturating_sub(empty),
    }
}

async fn c46_ended_tasks_leave_nothing_behind(store: Store) {
    let few = left_after(store, 1_000).await;
    let many = left_after(store, 10_000).await;
    if let (Some(few), Some(many)) = (few.memory, many.memory) {
        assert!(many <= few + few / 5, "{few} bytes, then {many}");
    }
    let most = match store {
        Store::Memory => 0,
        // Of a file that has been in use a page or two are left.
        Store::Sqlite => 16 << 10,
        // There the rows were counted: when their room is used again is the
        // database's affair.
        Store::Postgres => return,
    };
    assert!(many.store <= most, "{} bytes", many.store);
}

async fn c47_a_panic_fails_the_task_and_stays_secret(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("boom", json!({})).await;
        let task = client.until(&id, "failed").await;
        assert_eq!(task["error"]["code"], -32603, "{task}");
        assert!(task["statusMessage"].is_string(), "{task}");
        let plain = client.declaring(Declares::NoTasks);
        let inline = plain.call("boom", json!({})).await;
        inline.refused(-32603, &["internal error"]);
        for text in [task.to_string(), inline.text] {
            assert!(!text.contains("secret"), "{text}");
        }
        // It serves on, as before.
        let id = client.task("ask1", json!({})).await;
        let key = client.until_asked(&id, None).await;
        client.answer(&id, &key, "yes").await;
        assert_eq!(client.until_text(&id).await, "got: yes");
    }
}

async fn c48_a_tool_that_must_be_a_task_does_not_run_without(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let before = client.stats().await;
        for declares in [Declares::NoTasks, Declares::Nothing] {
            let undeclared = client.declaring(declares);
            let refused = undeclared.call("required", json!({})).await;
            let failure = refused.refused(-32021, &["required", "io.modelcontextprotocol/tasks"]);
            let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
            let wanted = json!({ "requiredCapabilities": { "extensions": tasks } });
            assert_eq!(failure.data, wanted);
        }
        assert_eq!(client.stats().await, before);
        let id = client.task("required", json!({})).await;
        assert_eq!(client.until_text(&id).await, "ok");
    }
}

async fn c49_within_its_grace_a_cancelled_task_cleans_up(store: Store) {
    for server in store.both(&[]).await {
        let client = server.client();
        let id = client.task("grace", json!({"ms": 500})).await;
        client.until_asked(&id, None).await;
        client.cancelled(&id).await;
        assert_eq!(client.until_text(&id).await, "cleaned up");
        client.cancelled(&id).await;
        assert_eq!(client.get(&id).await["status"], "completed");
    }
}

async fn c49_after_its_grace_a_task_is_cancelled(store: Store) {
    let server = store.http(&[]).await;
    let client = server.client();
    let id = client.task("grace", json!({"ms": 10_000})).await;
    client.until_asked(&id, None).await;
    let asked = Instant::now();
    client.cancelled(&id).await;
    // Asking again does not start the grace again.
    sleep(Duration::from_millis(500)).await;
    client.cancelled(&id).await;
    client.until(&id, "cancelled").await;
    assert!(asked.elapsed() >= Duration::from_millis(1900));
    assert!(asked.elapsed() < Duration::from_secs(4));
    client
        .until_stats("rid of the function", |stats| stats["resident"] == 0)
        .await;
}
