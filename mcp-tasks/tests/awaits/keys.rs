//! What a step is called, and that nothing of it is evaluated in vain.

use std::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::runtime::RuntimeBuilder;
use mcp_tasks::task::Snapshot;
use serde_json::json;

use super::Outside;
use super::Reply::Hang;
use super::world::{World, settle};

async fn visit(outside: Outside, name: String) -> Result<usize, std::io::Error> {
    outside.visit(&name).await
}

#[mcp_task(ttl = "30d")]
async fn charge(State(outside): State<Outside>) -> Result<String, ToolError> {
    step(outside.visit(&step_key())).await?;
    join!(left: async {
        step(async { outside.visit(&step_key()).await }).key("inner").await
    })
    .0?;
    join_all((0..2).map(|n| step(visit(outside.clone(), step_key())).key(format!("host-{n}"))))
        .await;
    step_with(Retry::attempts(2), || visit(outside.clone(), step_key()))
        .key("retried")
        .await?;
    Ok(String::new())
}

#[tokio::test(start_paused = true)]
async fn a_step_can_say_which_it_is() {
    let (world, outside) = (World::new(), Outside::default());
    let life = world.start(|builder| builder.state(outside.clone()).task(charge));
    let id = life.call("charge", json!({})).await;
    life.result(&id).await;
    let keys = ["visit", "left/inner", "host-0", "host-1", "retried"];
    assert_eq!(outside.visits(), keys.map(|key| format!("{id}/{key}")));
}

#[mcp_task(ttl = "30d")]
async fn once(State(outside): State<Outside>) -> Result<String, ToolError> {
    step(outside.visit(&step_key())).await?;
    Ok(String::new())
}

#[tokio::test(start_paused = true)]
async fn the_key_of_a_step_that_runs_again_is_the_same() {
    let (world, outside) = (World::new(), Outside::scripted([Hang]));
    let tools = |builder: RuntimeBuilder| builder.state(outside.clone()).task(once);
    let life = world.start(tools);
    let id = life.call("once", json!({})).await;
    settle().await;
    life.crash().await;
    let life = world.start(tools);
    life.result(&id).await;
    let visits = outside.visits();
    assert_eq!(visits.len(), 2);
    assert_eq!(visits[0], visits[1]);
}

static EVALUATED: AtomicUsize = AtomicUsize::new(0);

/// Has its effect before it is even awaited, as some functions do.
fn eager(name: &str) -> Ready<Result<String, std::io::Error>> {
    EVALUATED.fetch_add(1, Ordering::SeqCst);
    ready(Ok(name.to_owned()))
}

#[mcp_task(ttl = "30d")]
async fn restart(hosts: Vec<String>) -> Result<String, ToolError> {
    let by_key = join_all(hosts.iter().map(|host| step(eager(host)).key(host)));
    let by_key: Vec<String> = by_key.await.into_iter().collect::<Result<_, _>>()?;
    let by_number = join_all(hosts.iter().map(|host| step(eager(host))));
    let by_number: Vec<String> = by_number.await.into_iter().collect::<Result<_, _>>()?;
    ask_user::<()>("Go on?").await?;
    Ok(format!("{by_key:?} {by_number:?}"))
}

#[tokio::test(start_paused = true)]
async fn the_arguments_of_recorded_steps_are_not_evaluated_again() {
    let world = World::new();
    let tools = |builder: RuntimeBuilder| builder.task(restart);
    let life = world.start(tools);
    let id = life.call("restart", json!({"hosts": ["a", "b"]})).await;
    life.asked(&id, "answer").await;
    life.crash().await;
    let life = world.start(tools);
    life.answer(&id, "answer", json!(true)).await;
    assert_eq!(life.result(&id).await, r#"["a", "b"] ["a", "b"]"#);
    assert_eq!(EVALUATED.load(Ordering::SeqCst), 4);
}

#[mcp_task(ttl = "30d")]
async fn clash(State(outside): State<Outside>) -> Result<String, ToolError> {
    let name = "same".to_owned();
    step(outside.visit("first")).key(&name).await?;
    step(outside.visit("second")).key(&name).await?;
    Ok(String::new())
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_used_twice_ends_the_task_before_anything_is_done_for_it() {
    let (world, outside) = (World::new(), Outside::default());
    let life = world.start(|builder| builder.state(outside.clone()).task(clash));
    let id = life.call("clash", json!({})).await;
    let task = life.until(&id, Snapshot::is_terminal).await;
    assert_eq!(task.status(), TaskStatus::Failed);
    assert_eq!(outside.visits(), ["first"]);
}
