//! `step_with`: attempts, and the rests between them.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use mcp_tasks::task::TaskId;
use serde_json::json;

use super::Reply::{Fail, Hang, Succeed};
use super::world::{Life, World, settle};
use super::{Outside, Reply};

/// Rests of 10, 30 and 40 seconds.
const POLICY: Retry = Retry::attempts(4)
    .first(Duration::from_secs(10))
    .factor(3.0)
    .max(Duration::from_secs(40))
    .jitter(false);

#[mcp_task(ttl = "30d")]
async fn push(State(outside): State<Outside>) -> Result<String, ToolError> {
    let name = "push".to_owned();
    let visits = step_with(POLICY, || outside.visit(&name)).await?;
    Ok(format!("visit {visits}"))
}

fn tools(outside: &Outside) -> impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + use<> {
    let outside = outside.clone();
    move |builder| builder.state(outside).task(push)
}

async fn started(script: impl IntoIterator<Item = Reply>) -> (World, Outside, Life, TaskId) {
    let (world, outside) = (World::new(), Outside::scripted(script));
    let life = world.start(tools(&outside));
    let id = life.call("push", json!({})).await;
    (world, outside, life, id)
}

#[tokio::test(start_paused = true)]
async fn attempts_follow_one_another_with_growing_rests() {
    let (_world, outside, life, id) = started([Fail, Fail, Fail]).await;
    assert_eq!(life.result(&id).await, "visit 4");
    assert_eq!(outside.seconds(), [0, 10, 40, 80]);
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_the_steps() {
    let (_world, outside, life, id) = started([Fail; 9]).await;
    let words = life.result(&id).await;
    assert!(
        words.contains("`visits`") && words.ends_with("no luck with 4"),
        "{words}"
    );
    assert_eq!(outside.visits().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_crash_while_it_rests_neither_shortens_nor_forgets_the_rest() {
    let (world, outside, life, id) = started([Fail, Fail]).await;
    tokio::time::sleep(Duration::from_secs(15)).await;
    life.crash().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let life = world.start(tools(&outside));
    assert_eq!(life.result(&id).await, "visit 3");
    assert_eq!(outside.seconds(), [0, 10, 40]);
}

#[tokio::test(start_paused = true)]
async fn a_rest_that_ends_while_no_server_runs_ends_at_the_next_start() {
    let (world, outside, life, id) = started([Fail]).await;
    settle().await;
    life.crash().await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    let life = world.start(tools(&outside));
    assert_eq!(life.result(&id).await, "visit 2");
    assert_eq!(outside.seconds(), [0, 100]);
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_across_crashes() {
    // The third attempt is made twice, and counts once.
    let (world, outside, life, id) = started([Fail, Fail, Hang, Fail, Fail, Succeed]).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(outside.visits().len(), 3);
    life.crash().await;
    let life = world.start(tools(&outside));
    let words = life.result(&id).await;
    assert!(words.ends_with("no luck with 5"), "{words}");
}

#[mcp_task(ttl = "30d")]
async fn everywhere(
    hosts: Vec<String>,
    State(outside): State<Outside>,
) -> Result<String, ToolError> {
    let outside = &outside;
    let done = join_all(
        hosts
            .iter()
            .map(|host| step_with(POLICY, move || outside.visit(host)).key(host)),
    );
    let done: Result<Vec<usize>, StepError> = done.await.into_iter().collect();
    Ok(format!("{:?}", done?))
}

#[tokio::test(start_paused = true)]
async fn steps_of_a_join_rest_side_by_side() {
    let (world, outside) = (World::new(), Outside::scripted([Fail, Fail]));
    let life = world.start(|builder| builder.state(outside.clone()).task(everywhere));
    let id = life.call("everywhere", json!({"hosts": ["a", "b"]})).await;
    assert_eq!(life.result(&id).await, "[3, 4]");
    assert_eq!(outside.seconds(), [0, 0, 10, 10]);
    assert_eq!(outside.visits(), ["a", "b", "a", "b"]);
}

#[mcp_task(ttl = "30d")]
async fn impatient(State(outside): State<Outside>) -> Result<String, ToolError> {
    let first = race!(
        async {
            let pushed: Result<usize, StepError> =
                step_with(POLICY, || outside.visit("push")).await;
            format!("{pushed:?}")
        },
        async {
            sleep(Duration::from_secs(5)).await;
            "gave up".to_owned()
        },
    );
    ask_user::<()>("Go on?").await?;
    Ok(first)
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_dropped_while_it_rests_makes_no_further_attempt() {
    let (world, outside) = (World::new(), Outside::scripted([Fail]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(impatient);
    let life = world.start(tools);
    let id = life.call("impatient", json!({})).await;
    life.asked(&id, "answer").await;
    life.crash().await;
    let life = world.start(tools);
    tokio::time::sleep(Duration::from_secs(60)).await;
    life.answer(&id, "answer", json!(true)).await;
    assert_eq!(life.result(&id).await, "gave up");
    assert_eq!(outside.visits().len(), 1);
}
