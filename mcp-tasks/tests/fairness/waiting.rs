//! What counts as running, of functions of which only so many may: not what waits
//! for others, and what nobody sees waiting does.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::{Called, RuntimeBuilder};
use serde_json::json;
use tokio::task::JoinSet;

use crate::tools::{Gauge, greet, long};
use crate::world::{Client, SECOND, World};

#[mcp_task(concurrency = 1)]
async fn ask_and_work(State(gauge): State<Gauge>) -> Result<String, ToolError> {
    let name: String = ask_user("Who?").await?;
    step_value(gauge.work(1000)).await;
    Ok(name)
}

#[mcp_task(concurrency = 1)]
async fn wait_for_all(State(gauge): State<Gauge>) -> Result<String, ToolError> {
    step_value(gauge.clone().work(10)).key("first").await;
    sleep(600 * SECOND).await;
    signal::<u8>("go").await?;
    step_value(gauge.work(10)).key("last").await;
    Ok("gone".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_function_that_waits_has_no_seat() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| {
        let server = server.task(ask_and_work).task(wait_for_all);
        server.state(gauge.clone()).park_after(5 * SECOND)
    });
    let client = Client::of(&server, "ada");
    let mut asked = Vec::new();
    for _ in 0..20 {
        asked.push(client.task("ask_and_work", json!({})).await);
    }
    for id in &asked {
        client
            .until(id, |task| !task.input_requests.is_empty())
            .await;
    }
    // All at once: they work one after the other, and the others wait their turn
    // as `working`, without the question.
    for id in &asked {
        client.answer(id, "name", "Ada").await;
    }
    tokio::time::sleep(SECOND / 2).await;
    for id in &asked {
        let task = client.get(id).await;
        assert_eq!(task.status(), TaskStatus::Working);
    }
    let mut most = Duration::ZERO;
    for id in &asked {
        most += client.until_done(id).await;
    }
    assert_eq!(gauge.most(), 1);
    assert!(most > 18 * SECOND, "{most:?}");
    assert!(most < 24 * SECOND, "{most:?}");

    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(client.task("wait_for_all", json!({})).await);
    }
    tokio::time::sleep(700 * SECOND).await;
    for id in &waiting {
        let sent = server.tasks().signal(id, "go", &1).await;
        sent.expect("the task waits");
    }
    for id in &waiting {
        let took = client.until_done(id).await;
        assert!(took < 10 * SECOND, "{took:?}");
    }
    assert_eq!(gauge.most(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_is_parked_and_its_timer_rings_though_all_seats_are_taken() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| {
        let server = server.task(ask_in_time);
        server.state(gauge.clone()).park_after(5 * SECOND)
    });
    let client = Client::of(&server, "ada");
    let asking = client.task("ask_in_time", json!({"works": false})).await;
    let asked = |task: &mcp_tasks::task::Snapshot| !task.input_requests.is_empty();
    client.until(&asking, asked).await;
    let working = client.task("ask_in_time", json!({"works": true})).await;
    tokio::time::sleep(20 * SECOND).await;
    assert_eq!(gauge.now(), 1);
    // The one that waits has gone from memory.
    assert_eq!(server.tasks().stats().await.unwrap().resident, 1);
    // Nobody can answer any more what is too late to be answered.
    tokio::time::sleep(100 * SECOND).await;
    client.until_done(&asking).await;
    client.until_done(&working).await;
}

#[mcp_task(concurrency = 1)]
async fn ask_in_time(works: bool, State(gauge): State<Gauge>) -> String {
    if works {
        step_value(gauge.work(60_000)).await;
        return "worked".to_owned();
    }
    let answer: Result<String, AskError> = ask_user("?").timeout(30 * SECOND).await;
    answer.unwrap_or_else(|error| error.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_its_turn_is_working_and_can_be_cancelled_and_expires() {
    let (world, gauge) = (World::new(), Gauge::default());
    let server = world.server(|server| server.task(long).state(gauge.clone()));
    let client = Client::of(&server, "ada");
    client.task("long", json!({})).await;
    tokio::time::sleep(SECOND).await;
    let [cancelled, expired] = [
        client.task("long", json!({})).await,
        client.task("long", json!({})).await,
    ];
    tokio::time::sleep(SECOND).await;
    assert_eq!(client.get(&cancelled).await.status(), TaskStatus::Working);
    client
        .runtime
        .cancel(&cancelled, &client.caller)
        .await
        .unwrap();
    assert_eq!(client.get(&cancelled).await.status(), TaskStatus::Cancelled);
    tokio::time::sleep(SECOND).await;
    assert_eq!(server.tasks().stats().await.unwrap().resident, 2);
    tokio::time::sleep(3600 * SECOND).await;
    assert_eq!(client.get(&expired).await.status(), TaskStatus::Failed);
    assert_eq!(server.tasks().stats().await.unwrap().resident, 0);
    assert_eq!(gauge.most(), 1);
}

#[mcp_task(concurrency = 1, inline = "50ms")]
async fn quick(ms: u64, State(gauge): State<Gauge>) -> String {
    // Whatever is recorded makes it a task.
    if ms > 0 {
        step_value(gauge.work(ms)).await;
    }
    "done".to_owned()
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_no_tasks_count_while_they_run() {
    let (world, gauge) = (World::new(), Gauge::default());
    let tools = |server: RuntimeBuilder| server.task(greet).task(quick).state(gauge.clone());
    let [one, two] = [world.server(tools), world.server(tools)];
    let mut calls = JoinSet::new();
    for number in 0..10 {
        let client = Client::of(if number % 2 == 0 { &one } else { &two }, "ada");
        calls.spawn(async move { client.call("greet", json!({}), number % 3 == 0).await });
    }
    let called = calls.join_all().await;
    let results = called
        .iter()
        .filter(|called| matches!(called, Called::Result(_)));
    assert_eq!(results.count(), 6);
    while gauge.now() > 0 || one.tasks().stats().await.unwrap().store.live > 0 {
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(gauge.most(), 1);

    let client = Client::of(&one, "ada");
    let result = client.call("quick", json!({"ms": 0}), true).await;
    assert!(matches!(result, Called::Result(_)), "{result:?}");
    let long = client.task("quick", json!({"ms": 10_000})).await;
    // What has to wait longer than the window is a task.
    let short = client.task("quick", json!({"ms": 0})).await;
    let took = client.until_done(&short).await;
    assert!(took > 8 * SECOND, "{took:?}");
    client.until_done(&long).await;
    // Whoever hangs up while it waits has no seat.
    let held = client.task("greet", json!({})).await;
    tokio::time::sleep(SECOND / 10).await;
    for tasks in [false, true] {
        let hung_up = client.call("greet", json!({}), tasks);
        tokio::time::timeout(SECOND / 10, hung_up).await.ok();
    }
    client.until_done(&held).await;
    let id = client.task("greet", json!({})).await;
    let took = client.until_done(&id).await;
    assert!(took < 4 * SECOND, "{took:?}");
    assert_eq!(gauge.most(), 1);
}

#[mcp_task(replay = false, concurrency = 1)]
async fn once(signals: bool, State(gauge): State<Gauge>) -> Result<String, ToolError> {
    if signals {
        signal::<u8>("go").await?;
    }
    // Not a step: nobody sees what it waits for.
    gauge.work(1000).await;
    Ok("done".to_owned())
}

#[tokio::test(start_paused = true)]
async fn what_a_function_without_replay_awaits_counts_unless_others_must_tell_it_something() {
    let gauge = Gauge::default();
    let world = World::new();
    let server = world.server(|server| server.task(once).state(gauge.clone()));
    let client = Client::of(&server, "ada");
    let waiting = client.task("once", json!({"signals": true})).await;
    tokio::time::sleep(SECOND).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(client.task("once", json!({"signals": false})).await);
    }
    server.tasks().signal(&waiting, "go", &1).await.unwrap();
    for id in ids.iter().chain([&waiting]) {
        client.until_done(id).await;
    }
    assert_eq!(gauge.most(), 1);
}
