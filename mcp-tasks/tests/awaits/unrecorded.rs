//! `unrecorded`: what runs again whenever its function does.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;

use super::Outside;
use super::Reply::{Hang, Succeed};
use super::world::{World, settle};

/// No step could record it.
struct Connection(usize);

#[mcp_task(ttl = "30d")]
async fn look(State(outside): State<Outside>) -> Result<String, ToolError> {
    let connection = unrecorded(async {
        let visits = outside.visit("connect").await?;
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok::<_, std::io::Error>(Connection(visits))
    })
    .await?;
    let written = step(outside.visit("write")).await?;
    let name: String = ask_user("Who?").await?;
    Ok(format!("{name} {} {written}", connection.0))
}

#[tokio::test(start_paused = true)]
async fn it_gives_its_value_and_runs_again_after_a_restart() {
    let (world, outside) = (World::new(), Outside::default());
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(look);
    let life = world.start(tools);
    let id = life.call("look", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "name", json!("Luca")).await;
    assert_eq!(life.result(&id).await, "Luca 3 2");
    assert_eq!(outside.visits(), ["connect", "write", "connect"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_recorded_after_its_end_waits_for_it() {
    let (world, outside) = (World::new(), Outside::scripted([Succeed, Succeed, Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(look);
    let life = world.start(tools);
    let id = life.call("look", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "name", json!("Luca")).await;
    tokio::time::sleep(Duration::from_secs(3000)).await;
    assert!(!life.get(&id).await.is_terminal());
    assert_eq!(life.result(&id).await, "Luca 3 2");
}

#[tokio::test(start_paused = true)]
async fn it_starts_over_after_a_crash_in_the_middle() {
    let (world, outside) = (World::new(), Outside::scripted([Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(look);
    let life = world.start(tools);
    let id = life.call("look", json!({})).await;
    settle().await;
    life.crash().await;
    let life = world.start(tools);
    life.asked(&id, "name").await;
    assert_eq!(outside.visits(), ["connect", "connect", "write"]);
}

#[mcp_task(ttl = "30d")]
async fn race(State(outside): State<Outside>) -> Result<String, ToolError> {
    let first = race!(
        async {
            unrecorded(outside.visit("slow")).await.ok();
            "outside"
        },
        async {
            sleep(Duration::from_secs(10)).await;
            "timer"
        },
    );
    ask_user::<()>("Go on?").await?;
    Ok(first.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_race_that_it_lost_it_loses_again() {
    let (world, outside) = (World::new(), Outside::scripted([Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(race);
    let life = world.start(tools);
    let id = life.call("race", json!({})).await;
    life.asked(&id, "answer").await;
    life.crash().await;
    // This time it would be the first.
    let life = world.start(tools);
    life.answer(&id, "answer", json!(true)).await;
    assert_eq!(life.result(&id).await, "timer");
}

#[tokio::test(start_paused = true)]
async fn a_race_that_it_won_it_wins_again() {
    let (world, outside) = (World::new(), Outside::scripted([Succeed, Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(race);
    let life = world.start(tools);
    let id = life.call("race", json!({})).await;
    life.asked(&id, "answer").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "answer", json!(true)).await;
    assert_eq!(life.result(&id).await, "outside");
}
