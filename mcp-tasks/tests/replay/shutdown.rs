//! A server that ends in good order leaves nothing behind that others would have
//! to wait for, or do again.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::world::World;
use super::{Effects, with_order};

const GRACE: Duration = Duration::from_secs(90);

/// Two steps of a minute each, and one that must not run twice.
#[mcp_task(ttl = "30d")]
async fn three_steps(State(effects): State<Effects>) -> Result<String, ToolError> {
    let first = step(effects.take_a_minute()).key("first").await?;
    let once = step(effects.happen())
        .at_most_once(OnAmbiguous::Fail)
        .await?;
    let last = step(effects.take_a_minute()).key("last").await?;
    Ok(format!("{first} {once} {last}"))
}

fn with_steps(effects: &Effects) -> impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + use<> {
    let effects = effects.clone();
    move |builder| builder.state(effects).task(three_steps)
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_put_down_at_once_and_taken_up_without_delay() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    let begun = Instant::now();
    life.runtime
        .shut_down(GRACE)
        .await
        .expect("memory does not fail");
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(life.resident().await, 0);
    // It is still answered to, and others hear of it at once.
    let next = world.start(with_order(&effects));
    life.answer(&id, "name", json!("Luca")).await;
    assert_eq!(next.result(&id).await, "1 Luca 2");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_step_that_runs_may_end_and_none_begins() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_steps(&effects));
    let id = life.call("three_steps", json!({})).await;
    sleep(Duration::from_secs(30)).await;
    let begun = Instant::now();
    life.runtime
        .shut_down(GRACE)
        .await
        .expect("memory does not fail");
    let took = begun.elapsed();
    assert!(
        took > Duration::from_secs(29) && took < Duration::from_secs(32),
        "{took:?}"
    );
    assert_eq!(effects.count(), 1);

    let next = world.start(with_steps(&effects));
    assert_eq!(next.result(&id).await, "1 2 3");
    let recoveries = next.get(&id).await;
    assert!(recoveries.message.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_step_that_takes_too_long_runs_again_elsewhere() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_steps(&effects));
    let id = life.call("three_steps", json!({})).await;
    sleep(Duration::from_secs(30)).await;
    life.runtime
        .shut_down(Duration::from_secs(10))
        .await
        .expect("memory does not fail");
    let next = world.start(with_steps(&effects));
    assert_eq!(next.result(&id).await, "2 3 4");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_takes_no_more_calls() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    life.runtime
        .shut_down(GRACE)
        .await
        .expect("memory does not fail");
    let refused = life.try_call("order", json!({})).await;
    let error = refused.expect_err("it ends");
    assert_eq!(error.code.0, -32603);
    assert!(error.message.contains("shutting down"), "{}", error.message);
    assert_eq!(effects.count(), 0);
}
