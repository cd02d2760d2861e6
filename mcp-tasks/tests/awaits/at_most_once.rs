//! Steps that must not run twice, and steps that keep their errors.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Outside;
use super::Reply::{Fail, Hang, Succeed};
use super::world::{World, settle};

#[mcp_task(ttl = "30d")]
async fn pay(then: String, State(outside): State<Outside>) -> Result<String, ToolError> {
    let on_ambiguous = match then.as_str() {
        "fail" => OnAmbiguous::Fail,
        "again" => OnAmbiguous::RunAgain,
        _ => OnAmbiguous::Skip(0),
    };
    let receipt = step(outside.visit("charge"))
        .at_most_once(on_ambiguous)
        .await;
    // What was recorded comes again.
    ask_user::<()>("Done?").await?;
    Ok(match receipt {
        Ok(receipt) => format!("receipt {receipt}"),
        Err(error) if error.is_ambiguous() => format!("unknown: {}", error.step()),
        Err(error) => error.message().to_owned(),
    })
}

/// Pays, with a crash while the card is charged; gives the outcome and how
/// often it was charged.
async fn interrupted(then: &str) -> (String, usize) {
    let (world, outside) = (World::new(), Outside::scripted([Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(pay);
    let life = world.start(tools);
    let id = life.call("pay", json!({"then": then})).await;
    settle().await;
    assert_eq!(outside.visits().len(), 1);
    life.crash().await;
    let life = world.start(tools);
    life.asked(&id, "answer").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "answer", json!(true)).await;
    (life.result(&id).await, outside.visits().len())
}

#[tokio::test(start_paused = true)]
async fn a_step_that_may_have_run_fails() {
    let outcome = interrupted("fail").await;
    assert_eq!(outcome, ("unknown: receipt".to_owned(), 1));
}

#[tokio::test(start_paused = true)]
async fn a_step_that_may_have_run_runs_again() {
    let outcome = interrupted("again").await;
    assert_eq!(outcome, ("receipt 2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn a_step_that_may_have_run_is_skipped() {
    let outcome = interrupted("skip").await;
    assert_eq!(outcome, ("receipt 0".to_owned(), 1));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_recorded_is_not_ambiguous() {
    for (script, expected) in [(Succeed, "receipt 1"), (Fail, "no luck with 1")] {
        let (world, outside) = (World::new(), Outside::scripted([script]));
        let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(pay);
        let life = world.start(tools);
        let id = life.call("pay", json!({"then": "fail"})).await;
        life.asked(&id, "answer").await;
        life.crash().await;
        let life = world.start(tools);
        life.answer(&id, "answer", json!(true)).await;
        assert_eq!(life.result(&id).await, expected);
        assert_eq!(outside.visits().len(), 1);
    }
}

#[mcp_task(ttl = "30d")]
async fn insist(State(outside): State<Outside>) -> Result<String, ToolError> {
    let policy = Retry::attempts(3)
        .first(Duration::from_secs(10))
        .jitter(false);
    let receipt = step_with(policy, || outside.visit("charge"))
        .at_most_once(OnAmbiguous::Fail)
        .await;
    Ok(match receipt {
        Ok(receipt) => format!("receipt {receipt}"),
        Err(error) => error.message().to_owned(),
    })
}

#[tokio::test(start_paused = true)]
async fn a_crash_after_a_failure_that_is_known_leaves_nothing_unknown() {
    let (world, outside) = (World::new(), Outside::scripted([Fail, Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(insist);
    let life = world.start(tools);
    let id = life.call("insist", json!({})).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    life.crash().await;
    let life = world.start(tools);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(outside.seconds(), [0, 10]);
    life.crash().await;

    // Now the second attempt was under way.
    let life = world.start(tools);
    let words = life.result(&id).await;
    assert!(words.starts_with("it is not known"), "{words}");
    assert_eq!(outside.visits().len(), 2);
}

#[derive(Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
enum Refused {
    #[error("no room for {more} more")]
    Full { more: u32 },
}

#[mcp_task(ttl = "30d")]
async fn book(State(outside): State<Outside>) -> Result<String, ToolError> {
    let booked = step(async {
        outside.visit("book").await.ok();
        Err::<(), _>(Refused::Full { more: 3 })
    })
    .key("booking")
    .typed()
    .await;
    ask_user::<()>("Then what?").await?;
    assert_eq!(booked, Err(Refused::Full { more: 3 }));
    Err(booked.unwrap_err().into())
}

#[tokio::test(start_paused = true)]
async fn a_typed_error_is_what_it_was_after_a_crash() {
    let (world, outside) = (World::new(), Outside::default());
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(book);
    let life = world.start(tools);
    let id = life.call("book", json!({})).await;
    life.asked(&id, "answer").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "answer", json!(true)).await;
    assert_eq!(life.result(&id).await, "no room for 3 more");
    assert_eq!(outside.visits().len(), 1);
}
