//! `patched`: changes that tasks under way must not see.

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;

use super::Outside;
use super::world::World;

mod before {
    use super::*;

    #[mcp_task(ttl = "30d")]
    pub(super) async fn deploy(State(outside): State<Outside>) -> Result<String, ToolError> {
        let sure: bool = ask_user("Deploy?").await?;
        step(outside.visit("roll out")).await?;
        let done: bool = ask_user("Done?").await?;
        Ok(format!("{sure} {done}"))
    }
}

#[mcp_task(ttl = "30d")]
async fn deploy(State(outside): State<Outside>) -> Result<String, ToolError> {
    let sure: bool = ask_user("Deploy?").await?;
    if patched("check") {
        step(outside.visit("check")).key("check").await?;
    }
    step(outside.visit("roll out")).await?;
    let done: bool = ask_user("Done?").await?;
    let again = patched("check");
    Ok(format!("{sure} {done} {again}"))
}

fn old(outside: &Outside) -> impl Fn(RuntimeBuilder) -> RuntimeBuilder + use<> {
    let outside = outside.clone();
    move |builder| builder.state(outside.clone()).task(before::deploy)
}

fn new(outside: &Outside) -> impl Fn(RuntimeBuilder) -> RuntimeBuilder + use<> {
    let outside = outside.clone();
    move |builder| builder.state(outside.clone()).task(deploy)
}

#[tokio::test(start_paused = true)]
async fn a_new_task_takes_the_new_side_and_keeps_to_it() {
    let (world, outside) = (World::new(), Outside::default());
    let life = world.start(new(&outside));
    let id = life.call("deploy", json!({})).await;
    life.asked(&id, "sure").await;
    life.answer(&id, "sure", json!(true)).await;
    life.asked(&id, "done").await;
    life.crash().await;
    let life = world.start(new(&outside));
    life.answer(&id, "done", json!(true)).await;
    assert_eq!(life.result(&id).await, "true true true");
    assert_eq!(outside.visits(), ["check", "roll out"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_had_not_come_so_far_takes_the_new_side() {
    let (world, outside) = (World::new(), Outside::default());
    let life = world.start(old(&outside));
    let id = life.call("deploy", json!({})).await;
    life.asked(&id, "sure").await;
    life.answer(&id, "sure", json!(true)).await;
    life.crash().await;
    let life = world.start(new(&outside));
    life.asked(&id, "done").await;
    life.answer(&id, "done", json!(true)).await;
    assert_eq!(life.result(&id).await, "true true true");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_past_the_change_takes_the_old_side() {
    let (world, outside) = (World::new(), Outside::default());
    let life = world.start(old(&outside));
    let id = life.call("deploy", json!({})).await;
    life.asked(&id, "sure").await;
    life.answer(&id, "sure", json!(true)).await;
    life.asked(&id, "done").await;
    life.crash().await;
    let life = world.start(new(&outside));
    life.answer(&id, "done", json!(true)).await;
    assert_eq!(life.result(&id).await, "true true false");
    assert_eq!(outside.visits(), ["roll out"]);
}
