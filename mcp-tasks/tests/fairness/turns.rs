//! Whose turn it is within one process.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::{Limits, MemoryStore};
use serde_json::json;

use crate::world::{Client, SECOND, World};

const HOUR: Duration = Duration::from_secs(3600);

#[mcp_task]
async fn work(seconds: u64) -> String {
    step_value(tokio::time::sleep(Duration::from_secs(seconds))).await;
    "done".to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_one_caller_does_not_keep_the_others_from_running() {
    let world = World::new();
    let mut limits = Limits::default();
    limits.running = 2;
    let server = world.server_on(MemoryStore::new(), |server| {
        server.task(work).limits(limits)
    });
    let [alice, bob, nobody] =
        ["alice", "bob", "anonymous"].map(|caller| Client::of(&server, caller));
    let mut last = None;
    for _ in 0..500 {
        last = Some(alice.task("work", json!({"seconds": 10})).await);
    }
    tokio::time::sleep(SECOND).await;
    // Each waits until two end at most, and for its own.
    let his = bob.task("work", json!({"seconds": 10})).await;
    let theirs = nobody.task("work", json!({"seconds": 10})).await;
    let (took, theirs_took) = tokio::join!(bob.until_done(&his), nobody.until_done(&theirs));
    assert!(took < 20 * SECOND, "{took:?}");
    assert!(theirs_took < 30 * SECOND, "{theirs_took:?}");
    // Hers go on as before.
    let last = last.expect("there are many");
    let hers_took = alice.until_done(&last).await;
    assert!(hers_took > 2400 * SECOND, "{hers_took:?}");
    assert!(hers_took < 2600 * SECOND, "{hers_took:?}");
}

#[mcp_task]
async fn look_again() -> String {
    unrecorded(tokio::time::sleep(HOUR)).key("look").await;
    sleep(60 * SECOND).await;
    "done".to_owned()
}

#[mcp_task]
async fn timer(seconds: u64) -> String {
    sleep(Duration::from_secs(seconds)).await;
    "rang".to_owned()
}

#[tokio::test(start_paused = true)]
async fn tasks_that_take_long_to_be_resumed_do_not_keep_others_from_being_resumed() {
    let world = World::new();
    let mut limits = Limits::default();
    limits.running = 1000;
    let server = world.server(|server| {
        let server = server.task(look_again).task(timer);
        server.park_after(SECOND).limits(limits)
    });
    let (alice, bob) = (Client::of(&server, "alice"), Client::of(&server, "bob"));
    let mut hers = Vec::new();
    for _ in 0..200 {
        hers.push(alice.task("look_again", json!({})).await);
    }
    let id = bob.task("timer", json!({"seconds": 2 * 3600 - 600})).await;
    // Hers are parked, resumed by their timers, and look again for an hour.
    let took = bob.until_done(&id).await;
    assert!(took + 500 * SECOND < 2 * HOUR, "{took:?}");
    assert_eq!(server.tasks().stats().await.unwrap().resident, 200);
    for id in &hers {
        alice.until_done(id).await;
    }
}

#[mcp_task]
async fn sleep_and_work() -> String {
    sleep(60 * SECOND).await;
    step_value(tokio::time::sleep(10 * SECOND))
        .key("work")
        .await;
    "done".to_owned()
}

#[tokio::test(start_paused = true)]
async fn tasks_that_wait_for_room_to_run_do_not_keep_others_from_being_resumed() {
    let world = World::new();
    let mut limits = Limits::default();
    limits.running = 1;
    let server = world.server(|server| {
        let server = server.task(sleep_and_work).task(timer);
        server.park_after(SECOND).limits(limits)
    });
    let (alice, bob) = (Client::of(&server, "alice"), Client::of(&server, "bob"));
    for _ in 0..300 {
        alice.task("sleep_and_work", json!({})).await;
    }
    let id = bob.task("timer", json!({"seconds": 65})).await;
    // Hers want to run five seconds earlier, one after the other.
    let took = bob.until_done(&id).await;
    assert!(took < 100 * SECOND, "{took:?}");
}
