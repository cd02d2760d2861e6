//! Each thing that becomes of a task is told once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcp_tasks::prelude::*;
use mcp_tasks::task::TaskId;
use serde_json::json;
use tracing::Level;

use crate::heard::Heard;
use crate::server::Server;

#[mcp_task]
async fn story() -> Result<String, ToolError> {
    step(prepare()).await?;
    let answer: String = ask_user("Go on?").await?;
    sleep(Duration::from_secs(1)).await;
    let word: String = signal("word").await?;
    step(fails()).key("fails").await.ok();
    Ok(answer + &word)
}

async fn prepare() -> Result<(), String> {
    Ok(())
}

async fn fails() -> Result<(), String> {
    Err("no".to_owned())
}

#[tokio::test(start_paused = true)]
async fn what_becomes_of_a_task_is_told_once_whatever_is_run_again() {
    let heard = Heard::listen();
    let mut server = Server::start(|builder| builder.task(story));
    let id = server.task("story", json!({})).await;
    server.until(&id, "input_required").await;
    server.crash().await;
    server.answer(&id, "answer", "yes").await;
    server.crash().await;
    let tasks = server.router.runtime().tasks();
    tasks
        .signal(&TaskId::from_text(&id), "word", "!")
        .await
        .unwrap();
    server.until(&id, "completed").await;
    let mut told = heard.of_tasks(Level::DEBUG);
    let run_again = |told: &String| told == "resumed" || told.starts_with("taken over");
    assert!(told.iter().any(run_again), "{told:?}");
    told.retain(|told| !run_again(told));
    // When the timer is set depends on when the answer is taken up.
    let (mut timers, rest): (Vec<_>, Vec<_>) =
        told.into_iter().partition(|told| told.contains("timer"));
    timers.dedup();
    assert_eq!(
        rest,
        [
            "created",
            "step done key=prepare",
            "asked key=answer",
            "answered key=answer",
            "signalled signal=word",
            "step failed key=fails",
            "ended outcome=completed",
        ]
    );
    assert_eq!(timers, ["timer set key=sleep", "timer went off key=sleep"]);
    for said in heard.all() {
        if said.target == "mcp_tasks::task" {
            let of = [format!("task={id} "), "tool=story ".to_owned()];
            assert!(of.iter().all(|of| said.fields.contains(of)), "{said:?}");
        }
    }
}

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

#[mcp_task]
async fn stubborn() -> Result<String, ToolError> {
    let policy = Retry::attempts(3);
    let done: String = step_with(policy, || async {
        match ATTEMPTS.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err("not yet"),
            _ => Ok("done".to_owned()),
        }
    })
    .key("try")
    .await?;
    Ok(done)
}

#[tokio::test(start_paused = true)]
async fn attempts_are_told_one_by_one() {
    let heard = Heard::listen();
    let server = Server::start(|builder| builder.task(stubborn));
    let id = server.task("stubborn", json!({})).await;
    server.until(&id, "completed").await;
    assert_eq!(
        heard.of_tasks(Level::INFO),
        [
            "created",
            "step failed, and is tried again key=try attempt=1",
            "step failed, and is tried again key=try attempt=2",
            "ended outcome=completed",
        ]
    );
}

#[mcp_task(ttl = "10s")]
async fn waits() -> Result<String, ToolError> {
    Ok(ask_user("Well?").key("answer").await?)
}

#[tokio::test(start_paused = true)]
async fn ends_from_outside_are_told_by_whoever_brings_them_about() {
    let heard = Heard::listen();
    let server = Server::start(|builder| builder.task(waits));
    let cancelled = server.task("waits", json!({})).await;
    server.until(&cancelled, "input_required").await;
    for _ in 0..2 {
        let params = json!({ "taskId": cancelled });
        server.send("tasks/cancel", params, json!({})).await;
    }
    let expired = server.task("waits", json!({})).await;
    server.until(&expired, "failed").await;
    assert_eq!(
        heard.of_tasks(Level::INFO),
        [
            "created",
            "asked key=answer",
            "cancellation requested",
            "ended outcome=cancelled",
            "created",
            "asked key=answer",
            "ended outcome=expired",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_no_tasks_ask_and_are_answered_too() {
    let heard = Heard::listen();
    let server = Server::start(|builder| builder.task(waits));
    let plain = || json!({ "capabilities": { "elicitation": {} } });
    let mut params = json!({ "name": "waits", "arguments": {} });
    let asked = server.send("tools/call", params.clone(), plain()).await;
    params["requestState"] = asked["result"]["requestState"].clone();
    let response = json!({ "action": "accept", "content": { "answer": "yes" } });
    params["inputResponses"] = json!({ "answer": response });
    server.send("tools/call", params, plain()).await;
    assert_eq!(
        heard.of_tasks(Level::INFO),
        ["asked key=answer", "answered key=answer"]
    );
}
