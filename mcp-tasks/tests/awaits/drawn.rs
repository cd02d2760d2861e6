//! `now`, `random` and `uuid`: the same in every run of a task.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;

use super::Outside;
use super::Reply::Hang;
use super::world::{World, settle};

fn millis(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH)
        .expect("it is later")
        .as_millis()
}

#[mcp_task(ttl = "30d")]
async fn draw(State(outside): State<Outside>) -> Result<String, ToolError> {
    let id = uuid();
    let numbers: Vec<u32> = (0..3).map(|_| random()).collect();
    // Drawn in a step, which runs in one run and not in the next.
    step(async {
        outside
            .visit(&format!("{} {:?}", uuid(), random::<u32>()))
            .await
    })
    .await?;
    let (left, right) = join!(left: async { uuid() }, right: async { uuid() });
    let after = (random::<u32>(), random::<f64>(), random::<bool>(), uuid());
    let drawn = format!("{id} {numbers:?} {left} {right} {after:?}");
    // The words of a question must be the same in each run.
    let first: String = ask_user(format!("{drawn} {}", millis(now()))).await?;
    let second: String = ask_user(format!("{drawn} {}", millis(now()))).await?;
    Ok(format!("{first}{second} {drawn}"))
}

#[tokio::test(start_paused = true)]
async fn what_is_drawn_is_the_same_after_a_restart_and_never_the_same_twice() {
    let (world, outside) = (World::new(), Outside::default());
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(draw);
    let life = world.start(tools);
    let id = life.call("draw", json!({})).await;
    life.asked(&id, "first").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "first", json!("a")).await;
    life.asked(&id, "second").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "second", json!("b")).await;
    let result = life.result(&id).await;

    let mut drawn: Vec<&str> = result
        .split([' ', ',', '[', ']', '(', ')'])
        .filter(|word| word.len() > 5)
        .collect();
    let count = drawn.len();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!((drawn.len(), count), (9, 9), "{result}");
}

#[tokio::test(start_paused = true)]
async fn two_tasks_draw_differently() {
    let (world, outside) = (World::new(), Outside::default());
    let life = world.start(|builder| builder.state(outside.clone()).task(draw));
    let mut words = Vec::new();
    for _ in 0..2 {
        let id = life.call("draw", json!({})).await;
        let task = life.asked(&id, "first").await;
        words.push(task.input_requests[0].1.params.get().to_owned());
    }
    assert_ne!(words[0], words[1]);
}

#[mcp_task(ttl = "30d")]
async fn create(State(outside): State<Outside>) -> Result<String, ToolError> {
    step(outside.visit(&uuid().to_string())).await?;
    Ok(String::new())
}

#[tokio::test(start_paused = true)]
async fn a_step_that_runs_again_draws_again_what_it_drew() {
    let (world, outside) = (World::new(), Outside::scripted([Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(create);
    let life = world.start(tools);
    let id = life.call("create", json!({})).await;
    settle().await;
    life.crash().await;
    let life = world.start(tools);
    life.result(&id).await;
    let visits = outside.visits();
    assert_eq!(visits.len(), 2);
    assert_eq!(visits[0], visits[1]);
}

#[mcp_task(ttl = "30d")]
async fn clock() -> Result<String, ToolError> {
    let created = now();
    sleep(Duration::from_secs(60)).await;
    let slept = now();
    let answered: bool = ask_user("Sure?").await?;
    let last = now();
    Ok(format!(
        "{} {answered} {}",
        slept.duration_since(created)?.as_secs(),
        last.duration_since(slept)?.as_secs()
    ))
}

#[tokio::test(start_paused = true)]
async fn the_time_is_that_of_what_was_seen_last() {
    let world = World::new();
    let tools = |builder: RuntimeBuilder| builder.task(clock);
    let life = world.start(tools);
    let id = life.call("clock", json!({})).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    life.asked(&id, "answered").await;
    life.crash().await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    let life = world.start(tools);
    tokio::time::sleep(Duration::from_secs(20)).await;
    life.answer(&id, "answered", json!(true)).await;
    life.crash().await;
    tokio::time::sleep(Duration::from_secs(1000)).await;
    let life = world.start(tools);
    assert_eq!(life.result(&id).await, "60 true 120");
}
