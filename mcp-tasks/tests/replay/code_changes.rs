//! Code that is not the code that wrote the journal.

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::{Runtime, RuntimeBuilder};
use mcp_tasks::task::{Entry, Event, Journal, Snapshot, TaskId};
use mcp_tasks::testing;
use serde_json::json;

use crate::world::{Life, World, settle};
use crate::{Effects, nap, order, with_order};

mod renamed {
    use super::*;

    #[mcp_task(ttl = "30d")]
    pub(super) async fn order(State(effects): State<Effects>) -> Result<String, ToolError> {
        let before = step(effects.happen()).await?;
        let person: String = ask_user("Who?").await?;
        let after = step(effects.happen()).await?;
        Ok(format!("{before} {person} {after}"))
    }
}

#[tokio::test(start_paused = true)]
async fn code_that_does_not_fit_holds_the_task_until_code_comes_that_does() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    let before = life.asked(&id, "name").await;
    life.answer(&id, "name", json!("Luca")).await;
    life.crash().await;
    assert_eq!(effects.count(), 1);

    let life = world.start(|builder| builder.state(effects.clone()).task(renamed::order));
    let held = life.until(&id, |task| task.held.is_some()).await;
    assert_eq!(held.status(), TaskStatus::Working);
    let words = held.status_message().unwrap();
    assert!(
        words.contains("`name`") && words.contains("`person`"),
        "{words}"
    );
    assert_eq!(effects.count(), 1, "nothing ran");
    life.crash().await;

    let life = world.start(with_order(&effects));
    assert_eq!(life.result(&id).await, "1 Luca 2");
    let _ = before;
}

#[tokio::test(start_paused = true)]
async fn a_held_task_keeps_its_questions_and_can_be_cancelled() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;

    // Nothing has arrived: nobody looks at a task that waits.
    let life = world.start(|builder| builder.state(effects.clone()).task(renamed::order));
    settle().await;
    assert_eq!(life.get(&id).await.status(), TaskStatus::InputRequired);
    life.answer(&id, "name", json!("Luca")).await;
    let held = life.until(&id, |task| task.held.is_some()).await;
    assert_eq!(held.status(), TaskStatus::Working);
    life.runtime
        .cancel(&id, &mcp_tasks::Caller::anonymous())
        .await
        .unwrap();
    assert_eq!(life.get(&id).await.status(), TaskStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_tool_is_gone_waits_for_it() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;

    let life = world.start(|builder| builder.task(nap));
    life.answer(&id, "name", json!("Luca")).await;
    settle().await;
    assert!(!life.get(&id).await.is_terminal());
    life.crash().await;

    let life = world.start(with_order(&effects));
    assert_eq!(life.result(&id).await, "1 Luca 2");
}

mod newer {
    use super::*;

    #[mcp_task(version = 2, ttl = "30d")]
    pub(super) async fn order(State(effects): State<Effects>) -> Result<String, ToolError> {
        let who: String = ask_user("Who then?").await?;
        let count = step(effects.happen()).await?;
        Ok(format!("new {who} {count}"))
    }
}

#[tokio::test(start_paused = true)]
async fn versions_run_side_by_side_and_calls_go_to_the_newest() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let old = life.call("order", json!({})).await;
    life.asked(&old, "name").await;
    life.crash().await;

    let both = |builder: RuntimeBuilder| {
        builder
            .state(effects.clone())
            .task(order)
            .task(newer::order)
    };
    let life = world.start(both);
    let new = life.call("order", json!({})).await;
    life.asked(&new, "who").await;
    life.answer(&old, "name", json!("Luca")).await;
    assert_eq!(life.result(&old).await, "1 Luca 2");
    life.answer(&new, "who", json!("Ada")).await;
    assert_eq!(life.result(&new).await, "new Ada 3");
    assert_eq!(life.runtime.tools().count(), 1);
}

#[mcp_task(ttl = "30d", replay = false)]
async fn once() -> Result<String, ToolError> {
    let name: String = ask_user("Who?").await?;
    Ok(name)
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_replay_fails_after_a_restart_and_says_why() {
    let world = World::new();
    let life = world.start(|builder| builder.task(once));
    let id = life.call("once", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;

    let life = world.start(|builder| builder.task(once));
    let task = life.until(&id, Snapshot::is_terminal).await;
    assert_eq!(task.status(), TaskStatus::Failed);
    let words = task.status_message().unwrap();
    assert!(words.contains("replay = false"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_saved_journal_tells_whether_code_would_hold_the_task() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    let journal = life.runtime.tasks().journal(&id).await.unwrap().unwrap();
    let saved: Journal = journal.to_string().parse().unwrap();
    assert_eq!(journal.to_string(), saved.to_string());

    let same = Runtime::builder("test", "1")
        .state(effects.clone())
        .task(order);
    let same = same.build().unwrap();
    testing::replay(&same, &saved).await.unwrap();
    let other = Runtime::builder("test", "1")
        .state(effects.clone())
        .task(renamed::order);
    let other = other.build().unwrap();
    let mismatch = testing::replay(&other, &saved)
        .await
        .unwrap_err()
        .to_string();
    for part in [
        "version 1",
        "`name`",
        "`person` at",
        "code_changes.rs:",
        "Usually",
        "patched",
    ] {
        assert!(mismatch.contains(part), "{part}: {mismatch}");
    }
    let without = Runtime::builder("test", "1").task(nap).build().unwrap();
    let gone = testing::replay(&without, &saved)
        .await
        .unwrap_err()
        .to_string();
    assert!(gone.contains("`order`"), "{gone}");
    assert_eq!(effects.count(), 1);
}

/// Asks a question and drops it at once, then asks another.
#[mcp_task(name = "hasty", ttl = "30d")]
async fn hasty() -> Result<String, ToolError> {
    race!(
        async {
            let _seen: Result<String, AskError> = ask_user("Seen?").await;
        },
        async {},
    );
    let name: String = ask_user("Who?").await?;
    Ok(name)
}

mod later {
    use super::*;

    /// Comes to what was dropped when it has gone beyond the record.
    #[mcp_task(name = "hasty", ttl = "30d")]
    pub(super) async fn again() -> Result<String, ToolError> {
        let name: String = ask_user("Who?").await?;
        race!(
            async {
                let _seen: Result<String, AskError> = ask_user("Seen?").await;
            },
            async {},
        );
        let more: String = ask_user("More?").await?;
        Ok(name + &more)
    }

    /// Does so, and waits for it this time.
    #[mcp_task(name = "hasty", ttl = "30d")]
    pub(super) async fn patient() -> Result<String, ToolError> {
        let name: String = ask_user("Who?").await?;
        join!(async {
            let _seen: Result<String, AskError> = ask_user("Seen?").await;
        });
        Ok(name)
    }
}

/// Sees to it that a waiting task has caught up with its record.
async fn wake(life: &Life, id: &TaskId) {
    let signal = life.runtime.tasks().signal(id, "wake", &()).await;
    assert!(signal.unwrap());
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_dropped_before_may_be_dropped_later_in_the_code_too() {
    let world = World::new();
    let life = world.start(|builder| builder.task(hasty));
    let id = life.call("hasty", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;

    let life = world.start(|builder| builder.task(later::again));
    wake(&life, &id).await;
    life.answer(&id, "name", json!("Luca")).await;
    life.asked(&id, "more").await;
    life.crash().await;

    let life = world.start(|builder| builder.task(later::again));
    life.answer(&id, "more", json!("!")).await;
    assert_eq!(life.result(&id).await, "Luca!");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_comes_to_wait_for_what_was_dropped_is_held_and_does_not_fail() {
    let world = World::new();
    let life = world.start(|builder| builder.task(hasty));
    let id = life.call("hasty", json!({})).await;
    life.asked(&id, "name").await;
    life.crash().await;

    let tools = |builder: RuntimeBuilder| builder.task(later::patient);
    let life = world.start(tools);
    wake(&life, &id).await;
    life.answer(&id, "name", json!("Luca")).await;
    let held = life.until(&id, |task| task.held.is_some()).await;
    let words = held.status_message().unwrap();
    assert!(words.contains("`0/seen`"), "{words}");
    life.crash().await;

    // It is held for the same when it is run again.
    let life = world.start(tools);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(life.get(&id).await.held.is_some());
    life.crash().await;

    let life = world.start(|builder| builder.task(hasty));
    assert_eq!(life.result(&id).await, "Luca");
}

#[tokio::test(start_paused = true)]
async fn a_held_task_is_tried_once_by_each_server_and_costs_nothing_then() {
    let (world, effects) = (World::new(), Effects::default());
    let life = world.start(with_order(&effects));
    let id = life.call("order", json!({})).await;
    life.asked(&id, "name").await;
    life.answer(&id, "name", json!("Luca")).await;
    life.crash().await;

    let tools = |builder: RuntimeBuilder| builder.state(effects.clone()).task(renamed::order);
    let (one, _other) = (world.start(tools), world.start(tools));
    one.until(&id, |task| task.held.is_some()).await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    let journal = one.runtime.tasks().journal(&id).await.unwrap().unwrap();
    let held = |entry: &&Entry| matches!(entry.event, Event::Held(_));
    assert_eq!(journal.entries().iter().filter(held).count(), 2);
}
