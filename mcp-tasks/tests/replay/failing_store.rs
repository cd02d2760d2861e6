//! A store that fails once, at any call, before or after it has done it.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use mcp_tasks::store::parity::{Faulty, Moment};
use mcp_tasks::task::TaskId;
use serde_json::json;

use crate::Effects;
use crate::world::{Life, World};

#[mcp_task(ttl = "30d")]
async fn errand(State(effects): State<Effects>) -> Result<String, ToolError> {
    let first = step(effects.happen()).await?;
    let name: String = ask_user("Who?").await?;
    sleep(Duration::from_secs(120)).await;
    let second = step_value(async { 2 }).await;
    let go: Result<u32, _> = signal("go").await;
    Ok(format!("{first} {name} {second} {}", go?))
}

/// Tries what a client tries: again, until it works.
async fn insist(life: &Life, id: &TaskId, key: &str) {
    for _ in 0..20 {
        if life.try_answer(id, key, json!("Luca")).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("the store fails once only");
}

/// A whole life on a store that fails at a call; gives the number of calls.
async fn live(at: usize, moment: Moment) -> usize {
    let (world, effects) = (World::new(), Effects::default());
    let store = Faulty::new(Arc::new(world.holder()), at, moment);
    let tools = |builder: RuntimeBuilder| {
        builder
            .state(effects.clone())
            .task(errand)
            .park_after(Duration::from_secs(30))
    };
    let life = world.start_on(store.clone(), tools);
    let id = loop {
        match life.try_call("errand", json!({})).await {
            Ok(id) => break id,
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    };
    life.asked(&id, "name").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    insist(&life, &id, "name").await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    while life.runtime.tasks().signal(&id, "go", &7).await.is_err() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(life.result(&id).await, "1 Luca 2 7", "{moment:?} {at}");
    // A call that its client was told had failed leaves nothing that runs.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let stats = life.runtime.tasks().stats().await;
    if let Ok(stats) = stats {
        assert_eq!(
            (stats.store.live, stats.resident),
            (0, 0),
            "{moment:?} {at}"
        );
    }
    store.calls()
}

#[tokio::test(start_paused = true)]
async fn a_task_gets_to_its_end_whichever_call_of_the_store_fails() {
    let calls = live(0, Moment::Before).await;
    assert!(calls > 10, "{calls}");
    for at in 1..=calls {
        for moment in [Moment::Before, Moment::After] {
            live(at, moment).await;
        }
    }
}

#[mcp_task(ttl = "30d")]
async fn close_race(State(effects): State<Effects>) -> Result<String, ToolError> {
    let won = race!(
        async {
            let _done = step(effects.take_a_minute()).await;
            "step"
        },
        async {
            let _go: Result<u32, _> = signal("go").await;
            "signal"
        },
    );
    let name: String = ask_user(format!("{won}?")).await?;
    Ok(format!("{won} {name}"))
}

/// A signal comes while the server does not know whether the store has what it
/// was told last; gives the number of calls.
async fn race_while_unsure(at: usize) -> usize {
    let (world, effects) = (World::new(), Effects::default());
    let store = Faulty::new(Arc::new(world.holder()), at, Moment::After);
    let tools = |builder: RuntimeBuilder| builder.state(effects.clone()).task(close_race);
    let life = world.start_on(store.clone(), tools);
    let Ok(id) = life.try_call("close_race", json!({})).await else {
        return store.calls();
    };
    tokio::time::sleep(Duration::from_millis(60_500)).await;
    while life.runtime.tasks().signal(&id, "go", &7).await.is_err() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let calls = store.calls();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let life = {
        life.crash().await;
        world.start(tools)
    };
    let asked = life.asked(&id, "name").await;
    let (_, question) = &asked.input_requests[0];
    let won = if question.params.get().contains("step?") {
        "step"
    } else {
        "signal"
    };
    life.answer(&id, "name", json!("Luca")).await;
    assert_eq!(life.result(&id).await, format!("{won} Luca"), "{at}");
    calls
}

#[tokio::test(start_paused = true)]
async fn outcomes_keep_their_order_though_the_store_was_unsure() {
    let calls = race_while_unsure(0).await;
    for at in 1..=calls {
        race_while_unsure(at).await;
    }
}
