//! `signal`: what other code tells a task.

use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::runtime::RuntimeBuilder;
use mcp_tasks::testing::{TestTask, crash_everywhere};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::world::{World, settle};

#[derive(Debug, Serialize, Deserialize)]
struct Built {
    artifact: String,
}

#[mcp_task(ttl = "30d")]
async fn build() -> Result<String, ToolError> {
    let first: Built = signal("built").await?;
    ask_user::<()>("And the next?").await?;
    let second = signal::<Built>("built").await?;
    Ok(format!("{} {}", first.artifact, second.artifact))
}

fn built(artifact: &str) -> Built {
    Built {
        artifact: artifact.to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn signals_come_in_order_whether_they_are_awaited_yet_or_not() {
    let world = World::new();
    let life = world.start(|builder| builder.task(build));
    let id = life.call("build", json!({})).await;
    let tasks = life.runtime.tasks();
    settle().await;
    // Awaited already, not yet awaited, and never awaited.
    for artifact in ["a", "b", "c"] {
        assert!(tasks.signal(&id, "built", &built(artifact)).await.unwrap());
    }
    tasks.signal(&id, "other", &1).await.unwrap();
    life.asked(&id, "answer").await;
    life.answer(&id, "answer", json!(true)).await;
    assert_eq!(life.result(&id).await, "a b");
}

#[tokio::test(start_paused = true)]
async fn a_signal_survives_the_server_that_took_it() {
    let world = World::new();
    let tools = |builder: RuntimeBuilder| builder.task(build);
    let life = world.start(tools);
    let id = life.call("build", json!({})).await;
    let tasks = life.runtime.tasks();
    tasks.signal(&id, "built", &built("a")).await.unwrap();
    tasks.signal(&id, "built", &built("b")).await.unwrap();
    life.asked(&id, "answer").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "answer", json!(true)).await;
    life.crash().await;
    let life = world.start(tools);
    assert_eq!(life.result(&id).await, "a b");
}

#[tokio::test(start_paused = true)]
async fn a_parked_task_comes_back_for_its_signal() {
    let world = World::new();
    let life = world.start(|builder| builder.task(build).park_after(Duration::from_secs(30)));
    let id = life.call("build", json!({})).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let tasks = life.runtime.tasks();
    assert_eq!(tasks.stats().await.unwrap().resident, 0);
    tasks.signal(&id, "built", &built("a")).await.unwrap();
    life.asked(&id, "answer").await;
}

#[mcp_task(ttl = "30d")]
async fn patient() -> Result<String, ToolError> {
    let early = race!(async { signal::<u32>("number").await.ok() }, async {
        sleep(Duration::from_secs(10)).await;
        None
    },);
    let number: u32 = signal("number").await?;
    Ok(format!("{early:?} {number}"))
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_takes_nothing() {
    let world = World::new();
    let life = world.start(|builder| builder.task(patient));
    let id = life.call("patient", json!({})).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    life.runtime
        .tasks()
        .signal(&id, "number", &7)
        .await
        .unwrap();
    assert_eq!(life.result(&id).await, "None 7");
}

#[mcp_task(ttl = "30d")]
async fn picky() -> Result<String, ToolError> {
    let (left, right) = join!(signal::<u32>("number"), signal::<u32>("number"));
    let error = left.unwrap_err();
    assert!(matches!(&error, SignalError::Unfit { name, .. } if name == "number"));
    assert_eq!(right?, 7);
    Err(error.into())
}

#[tokio::test(start_paused = true)]
async fn a_value_that_does_not_fit_is_taken_and_said_to_be_wrong() {
    let world = World::new();
    let life = world.start(|builder| builder.task(picky));
    let id = life.call("picky", json!({})).await;
    let tasks = life.runtime.tasks();
    tasks.signal(&id, "number", "seven").await.unwrap();
    tasks.signal(&id, "number", &7).await.unwrap();
    let words = life.result(&id).await;
    assert!(
        words.contains("`number`") && words.contains("seven"),
        "{words}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_ended_or_never_was_takes_no_signal() {
    let world = World::new();
    let life = world.start(|builder| builder.task(patient));
    let id = life.call("patient", json!({})).await;
    let tasks = life.runtime.tasks();
    for number in [1, 2] {
        tasks.signal(&id, "number", &number).await.unwrap();
    }
    assert_eq!(life.result(&id).await, "Some(1) 2");
    let before = life.get(&id).await;
    assert!(tasks.signal(&id, "number", &3).await.unwrap());
    assert_eq!(before.updated_at, life.get(&id).await.updated_at);
    let nobody = mcp_tasks::task::TaskId::from_text("nobody");
    assert!(!tasks.signal(&nobody, "number", &4).await.unwrap());
}

/// Waits three times for the same; each for an hour.
#[mcp_task(ttl = "30d")]
async fn hourly() -> Result<String, ToolError> {
    let hour = Duration::from_secs(3600);
    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(match signal::<u32>("tick").timeout(hour).await {
            Ok(number) => number.to_string(),
            Err(SignalError::TimedOut { name }) => format!("no {name}"),
            Err(error) => return Err(error.into()),
        });
        // An answer under the key of the signal's name, with a timer of its own.
        let tick: Result<bool, AskError> = ask_user("Heard it?").timeout(hour).await;
        heard.push(format!("{tick:?}"));
    }
    Ok(heard.join(" "))
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_signal_can_be_given_up_and_leaves_the_signal_to_the_next() {
    let text = crash_everywhere(async |crash| {
        let task = TestTask::start(hourly()).crash_after(crash).await;
        task.signal("tick", 1).await;
        task.answer("tick", json!({"answer": true})).await;
        // The second wait is over before its signal comes, while the second
        // question stands.
        task.asked("tick#2").await;
        task.signal("tick", 3).await;
        task.answer("tick#2", json!({"answer": true})).await;
        task.answer("tick#3", json!({"answer": true})).await;
        task.result().await.text()
    });
    assert_eq!(text.await, "1 Ok(true) no tick Ok(true) 3 Ok(true)");
}
