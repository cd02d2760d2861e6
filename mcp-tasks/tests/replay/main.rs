//! A function that is run again from the top arrives where it was.

mod code_changes;
#[cfg(feature = "store-parity")]
mod failing_store;
mod poison;
mod shutdown;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_tasks::Limits;
use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;

use self::world::{World, settle};

/// Counts what is done to the world outside.
#[derive(Clone, Default)]
struct Effects(Arc<AtomicUsize>);

impl Effects {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    #[allow(clippy::unused_async, reason = "a step takes a future")]
    async fn happen(&self) -> Result<usize, std::io::Error> {
        Ok(self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Begins, and takes a minute.
    async fn take_a_minute(&self) -> Result<usize, std::io::Error> {
        let count = self.happen().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        count
    }
}

#[mcp_task(ttl = "30d")]
async fn order(State(effects): State<Effects>) -> Result<String, ToolError> {
    let before = step(effects.happen()).await?;
    set_status("waiting");
    let name: String = ask_user("Who?").await?;
    let after = step(effects.happen()).await?;
    Ok(format!("{before} {name} {after}"))
}

fn with_order(effects: &Effects) -> impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + use<> {
    let effects = effects.clone();
    move |builder| builder.state(effects).task(order)
}

#[tokio::test(start_paused = true)]
async fn a_question_outlives_the_server_and_no_step_runs_twice() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    let before = life.asked(&id, "name").await;
    life.crash().await;

    let life = world.start(with_order(&effects));
    settle().await;
    let after = life.get(&id).await;
    assert_eq!(before.input_requests, after.input_requests);
    assert_eq!(before.updated_at, after.updated_at);
    life.answer(&id, "name", json!("Luca")).await;
    assert_eq!(life.result(&id).await, "1 Luca 2");
    assert_eq!(effects.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_survives_the_crash_that_follows_it() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    life.answer(&id, "name", json!("Luca")).await;
    life.crash().await;

    let life = world.start(with_order(&effects));
    assert_eq!(life.result(&id).await, "1 Luca 2");
}

#[mcp_task(ttl = "30d")]
async fn long_step(State(effects): State<Effects>) -> Result<String, ToolError> {
    let count = step(effects.take_a_minute()).await?;
    Ok(format!("{count}"))
}

#[tokio::test(start_paused = true)]
async fn a_step_without_a_result_runs_again() {
    let (world, effects) = (World::new(), Effects::default());
    let tools = |builder: RuntimeBuilder| builder.state(effects.clone()).task(long_step);
    let life = world.start(tools);
    let id = life.call("long_step", json!({})).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(effects.count(), 1);
    life.crash().await;

    let life = world.start(tools);
    tokio::time::sleep(Duration::from_secs(55)).await;
    assert!(!life.get(&id).await.is_terminal());
    assert_eq!(life.result(&id).await, "2");
}

#[mcp_task(ttl = "30d")]
async fn nap() -> Result<String, ToolError> {
    sleep(Duration::from_secs(3600)).await;
    Ok("rang".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_timer_goes_on_while_no_server_runs() {
    let world = World::new();
    let life = world.start(|builder| builder.task(nap));
    let id = life.call("nap", json!({})).await;
    settle().await;
    life.crash().await;
    tokio::time::sleep(Duration::from_secs(1800)).await;

    let life = world.start(|builder| builder.task(nap));
    tokio::time::sleep(Duration::from_secs(1700)).await;
    assert!(!life.get(&id).await.is_terminal());
    tokio::time::sleep(Duration::from_secs(101)).await;
    assert_eq!(life.result(&id).await, "rang");
}

#[tokio::test(start_paused = true)]
async fn a_parked_task_leaves_memory_and_comes_back_on_its_answer() {
    let (world, effects) = (World::new(), Effects::default());
    let life =
        world.start(|builder| with_order(&effects)(builder).park_after(Duration::from_secs(30)));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    assert_eq!(life.resident().await, 1);
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(life.resident().await, 0);
    life.answer(&id, "name", json!("Luca")).await;
    assert_eq!(life.result(&id).await, "1 Luca 2");
    assert_eq!(effects.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_one_too_many_in_memory_is_parked_as_soon_as_it_waits() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(|builder| {
        let mut limits = Limits::default();
        limits.resident = 2;
        with_order(&effects)(builder).limits(limits)
    });
    let mut ids = Vec::new();
    for _ in 0..5 {
        let id = life.call("order", json!({})).await;
        life.asked(&id, "name").await;
        ids.push(id);
    }
    settle().await;
    assert_eq!(life.resident().await, 2);
    for id in &ids {
        life.answer(id, "name", json!("Ada")).await;
        assert!(life.result(id).await.contains("Ada"));
    }
    assert_eq!(effects.count(), 2 * ids.len());
}

#[tokio::test(start_paused = true)]
async fn a_parked_timer_rings_on_time() {
    let world = World::new();
    let life = world.start(|builder| builder.task(nap).park_after(Duration::from_secs(30)));
    let id = life.call("nap", json!({})).await;
    tokio::time::sleep(Duration::from_secs(3599)).await;
    assert!(!life.get(&id).await.is_terminal());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(life.get(&id).await.status(), TaskStatus::Completed);
}

#[mcp_task(ttl = "30d")]
async fn quorum() -> Result<String, ToolError> {
    let (left, right) = join!(
        left: async {
            let first: String = ask_user("l1").await?;
            let second: String = ask_user("l2").await?;
            Ok::<_, AskError>(format!("{first}{second}"))
        },
        right: ask_user::<String>("r").timeout(Duration::from_secs(60)),
    );
    let won = race!(
        async {
            sleep(Duration::from_secs(60)).await;
            "time"
        },
        async {
            let _said: Result<String, AskError> = ask_user("go?").await;
            "person"
        },
    );
    Ok(format!(
        "{} {} {won}",
        left?,
        right.unwrap_or_else(|error| error.to_string())
    ))
}

#[tokio::test(start_paused = true)]
async fn branches_arrive_where_they_were() {
    let world = World::new();
    let tools = |builder: RuntimeBuilder| builder.task(quorum);
    let life = world.start(tools);
    let id = life.call("quorum", json!({})).await;
    life.asked(&id, "left/first").await;
    life.answer(&id, "left/first", json!("a")).await;
    life.asked(&id, "left/second").await;
    life.crash().await;
    let life = world.start(tools);
    tokio::time::sleep(Duration::from_secs(61)).await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "left/second", json!("b")).await;
    life.asked(&id, "1/said").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "1/said", json!("c")).await;
    life.crash().await;
    let life = world.start(tools);
    let result = life.result(&id).await;
    assert!(
        result.starts_with("ab ") && result.ends_with(" person"),
        "{result}"
    );
}

#[mcp_task(ttl = "30d")]
async fn first_of_two() -> Result<String, ToolError> {
    unrecorded(tokio::time::sleep(Duration::from_secs(1))).await;
    let first = race!(
        ask_user::<String>("One?").key("one"),
        ask_user::<String>("Or the other?").key("other"),
    )?;
    let more: String = ask_user("More?").await?;
    Ok(format!("{first} {more}"))
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_during_a_replay_loses_against_the_recorded_one() {
    let world = World::new();
    let tools = |builder: RuntimeBuilder| builder.task(first_of_two);
    let life = world.start(tools);
    let id = life.call("first_of_two", json!({})).await;
    life.asked(&id, "0/one").await;
    life.crash().await;

    let life = world.start(tools);
    life.answer(&id, "0/one", json!("a")).await;
    // The function takes a second to come to its questions again.
    tokio::time::sleep(Duration::from_millis(500)).await;
    life.answer(&id, "1/other", json!("b")).await;
    life.asked(&id, "more").await;
    life.answer(&id, "more", json!("c")).await;
    assert_eq!(life.result(&id).await, "a c");
}
