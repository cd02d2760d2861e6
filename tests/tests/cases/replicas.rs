//! Replicas on one database: any of them answers anything, one that is told to end
//! hands over what it has, and each runs the code that it has.

use std::time::{Duration, Instant};

use mcp_tasks_tests::{Client, Launch, Transport, keys};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Store;
use crate::outages::on_postgres;
use crate::processes::two;
use crate::steps::{lines, until_lines};

on_postgres! {
    what_waits_or_runs_moves_on_while_its_replica_still_ends,
    a_step_that_runs_ends_where_it_is_and_its_task_moves_on_then,
    a_step_that_outlasts_the_grace_runs_again_elsewhere,
    tasks_of_two_versions_go_on_where_their_code_is,
}

async fn what_waits_or_runs_moves_on_while_its_replica_still_ends(transport: Transport) {
    const STEPS: u32 = 60;
    let folder = TempDir::new().unwrap();
    let [side, steps] = ["side.txt", "steps.txt"].map(|name| folder.path().join(name));
    let (mut a, b) = two(Store::Postgres, transport, &[]).await;
    let (client, other) = (a.client(), b.client());
    // It keeps its replica from ending for longer than all of this takes.
    let long = client.task("slow", json!({ "ms": 4000 })).await;
    let asking = client.task("side", json!({ "file": side })).await;
    let key = client.until_asked(&asking, None).await;
    let asked_twice = client.task("ask2", json!({})).await;
    let first = client.until_asked(&asked_twice, None).await;
    let signalled = client.task("wait_signal", json!({})).await;
    let timer = client.task("timer", json!({ "ms": 1200 })).await;
    let running = client
        .task("steps", json!({ "file": steps, "n": STEPS }))
        .await;
    until_lines(&steps, 5).await;

    let told = Instant::now();
    a.tell_to_end();
    let within = |limit: Duration, what: &str| {
        let took = told.elapsed();
        println!("{what} after {took:?}");
        assert!(took < limit, "{what} after {took:?}");
    };
    // It begins no step any more: another has.
    let there = usize::try_from(until_lines(&steps, 5).await).unwrap();
    until_lines(&steps, there + 3).await;
    within(Duration::from_secs(1), "the steps went on");
    other.answer(&asking, &key, "yes").await;
    assert_eq!(other.until_text(&asking).await, "ab");
    other.answer(&asked_twice, &first, "A").await;
    let second = other.until_asked(&asked_twice, Some(&first)).await;
    let signal = json!({"task_id": signalled, "name": "go", "value": "word"});
    assert_eq!(other.call("send_signal", signal).await.tool_text(), "sent");
    assert_eq!(other.until_text(&signalled).await, "signalled: word");
    assert_eq!(other.until_text(&timer).await, "rang");
    // All of this while the one that was told to end had not yet.
    within(Duration::from_secs(3), "everything else went on");
    assert_eq!(other.get(&long).await["status"], "working");
    assert!(a.is_running());

    other.answer(&asked_twice, &second, "B").await;
    assert_eq!(other.until_text(&asked_twice).await, "A,B");
    let key = other.until_asked(&running, None).await;
    other.answer(&running, &key, "on").await;
    assert_eq!(other.until_text(&running).await, "done");
    // Nothing was cut off, so nothing had to be done twice.
    let written = lines(&steps);
    assert!(
        (1..=2 * STEPS).all(|step| written[&step] == 1),
        "{written:?}"
    );
    let status = a.ended().await;
    assert!(status.success(), "{status}: {}", a.said());
    assert_eq!(other.until_text(&long).await, "done");
}

async fn a_step_that_runs_ends_where_it_is_and_its_task_moves_on_then(transport: Transport) {
    let (mut a, b) = two(Store::Postgres, transport, &[]).await;
    let (client, other) = (a.client(), b.client());
    let begun = Instant::now();
    let id = client.task("slow", json!({ "ms": 2000 })).await;
    let mut listening = other.listen_to(&[&id]).await;
    client
        .until_stats("at work", |stats| stats["resident"] == 1)
        .await;
    let status = a.terminate().await;
    assert!(status.success(), "{status}: {}", a.said());
    assert!(begun.elapsed() >= Duration::from_secs(2), "it was cut off");
    let ended = listening.until("completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "done");
    // The step did not run again.
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(3500), "{took:?}");
}

async fn a_step_that_outlasts_the_grace_runs_again_elsewhere(transport: Transport) {
    let (mut a, b) = two(Store::Postgres, transport, &["--shutdown-grace", "500"]).await;
    let (client, other) = (a.client(), b.client());
    let id = client.task("slow", json!({ "ms": 1500 })).await;
    client
        .until_stats("at work", |stats| stats["resident"] == 1)
        .await;
    let told = Instant::now();
    let status = a.terminate().await;
    assert!(status.success(), "{status}: {}", a.said());
    let ended = told.elapsed();
    assert!(ended < Duration::from_millis(1400), "{ended:?}");
    other
        .until_stats("at work", |stats| stats["resident"] == 1)
        .await;
    let took = told.elapsed().saturating_sub(ended);
    assert!(took < Duration::from_secs(1), "taken up after {took:?}");
    assert_eq!(other.until_text(&id).await, "done");
    // An end in good order: the task is not suspected of having caused it.
    let journal = other.get(&id).await;
    assert!(journal["statusMessage"].is_null(), "{journal}");
}

/// A replica with these releases of the tool `released`.
fn with_releases(launch: &Launch, releases: &[&str]) -> Launch {
    let flags = releases.iter().flat_map(|release| ["--release", release]);
    launch.clone().flags(&flags.collect::<Vec<_>>())
}

async fn tasks_of_two_versions_go_on_where_their_code_is(transport: Transport) {
    let launch = Store::Postgres.launch(transport, &[]).await;
    let mut old = with_releases(&launch, &["1"]).start().await;
    let new = with_releases(&launch, &["2"])
        .over(transport.other())
        .start()
        .await;
    let (older, newer) = (old.client(), new.client());
    let task = async |client: &Client| {
        let id = client.task("released", json!({})).await;
        client.until_asked(&id, None).await;
        id
    };
    let (first, second) = (task(&older).await, task(&newer).await);
    let left = task(&older).await;
    // Answered where the other code is.
    newer.answer(&first, "name", "Ada").await;
    assert_eq!(newer.until_text(&first).await, "old: Ada");
    older.answer(&second, "nickname", "Bob").await;
    assert_eq!(older.until_text(&second).await, "new: Bob");

    // Nobody is left who has the old code: what was begun with it waits, and keeps
    // its answer.
    old.terminate().await;
    assert_eq!(keys(&newer.get(&left).await), ["name"]);
    newer.answer(&left, "name", "Cleo").await;
    let waits = |task: &Value| task["status"] == "working" && keys(task).is_empty();
    newer.until_task(&left, "without a question", waits).await;
    let another = task(&newer).await;
    newer.answer(&another, "nickname", "Dan").await;
    assert_eq!(newer.until_text(&another).await, "new: Dan");
    assert!(waits(&newer.get(&left).await));
    let both = with_releases(&launch, &["1", "2"]).start().await;
    assert_eq!(both.client().until_text(&left).await, "old: Cleo");
}
