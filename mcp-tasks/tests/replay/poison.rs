//! Tasks that bring processes down.

use std::time::Duration;

use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;

use crate::world::{World, settle};
use crate::{Effects, long_step, order};

fn tools(effects: &Effects) -> impl Fn(RuntimeBuilder) -> RuntimeBuilder + use<> {
    let effects = effects.clone();
    move |builder| {
        builder
            .state(effects.clone())
            .task(long_step)
            .task(order)
            .max_recoveries(3)
            .build_id("a")
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_crashes_its_process_again_and_again_is_held_until_another_build() {
    let (world, effects) = (World::new(), Effects::default());
    let tools = tools(&effects);
    let life = world.start(&tools);
    let id = life.call("long_step", json!({})).await;
    settle().await;
    life.crash().await;
    for _ in 0..3 {
        let life = world.start(&tools);
        tokio::time::sleep(Duration::from_secs(1)).await;
        life.crash().await;
    }
    let ran = effects.count();
    assert_eq!(ran, 4);

    let life = world.start(&tools);
    let held = life.until(&id, |task| task.held.is_some()).await;
    assert_eq!(held.status(), TaskStatus::Working);
    assert!(
        held.status_message().unwrap().contains("3 times"),
        "{held:?}"
    );
    let healthy = life.call("order", json!({})).await;
    life.asked(&healthy, "name").await;
    life.crash().await;
    let life = world.start(&tools);
    settle().await;
    assert!(
        life.get(&id).await.held.is_some(),
        "the same build does not try again"
    );
    assert_eq!(effects.count(), ran + 1, "only the healthy one ran");
    life.crash().await;

    let life = world.start(|builder| tools(builder).build_id("b"));
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(life.result(&id).await.starts_with(&format!("{}", ran + 2)));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ran_on_for_a_while_is_not_blamed_for_crashes() {
    let (world, effects) = (World::new(), Effects::default());
    let tools = tools(&effects);
    let life = world.start(&tools);
    let id = life.call("long_step", json!({})).await;
    settle().await;
    life.crash().await;
    for _ in 0..10 {
        let life = world.start(&tools);
        tokio::time::sleep(Duration::from_secs(15)).await;
        life.crash().await;
    }
    let life = world.start(&tools);
    assert!(life.get(&id).await.held.is_none());
    tokio::time::sleep(Duration::from_secs(61)).await;
    life.result(&id).await;
}

#[tokio::test(start_paused = true)]
async fn suspects_are_resumed_one_at_a_time() {
    let (world, effects) = (World::new(), Effects::default());
    let tools = tools(&effects);
    let life = world.start(&tools);
    for _ in 0..4 {
        life.call("long_step", json!({})).await;
    }
    settle().await;
    life.crash().await;
    assert_eq!(effects.count(), 4);
    for again in 2..4 {
        let life = world.start(&tools);
        settle().await;
        assert_eq!(effects.count(), 4 * again, "all at once");
        life.crash().await;
    }
    let life = world.start(&tools);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(effects.count(), 13, "one of them");
    life.crash().await;
}
