//! What the test kit gives to those who write task functions.

mod crashes;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::testing::TestTask;
use serde_json::json;

#[derive(Elicit)]
struct Approval {
    approve: bool,
    percent: u8,
}

#[derive(Clone, Default)]
struct Fleet(Arc<AtomicUsize>);

impl Fleet {
    #[expect(clippy::unused_async, reason = "stands for a call over the network")]
    async fn roll_out(&self, percent: u8) -> Result<u8, std::io::Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(percent)
    }
}

#[mcp_task(ttl = "7d")]
async fn deploy(service: String, State(fleet): State<Fleet>) -> Result<Json<u8>, ToolError> {
    let approval: Approval = ask_user(format!("Deploy {service}?"))
        .timeout(Duration::from_secs(8 * 3600))
        .await?;
    if !approval.approve {
        return Err(ToolError::new("not approved"));
    }
    set_status(format!("rolling out to {}%", approval.percent));
    let first = step(fleet.roll_out(approval.percent)).await?;
    sleep(Duration::from_secs(3600)).await;
    let rest = step(fleet.roll_out(100)).key("rest").await?;
    Ok(Json(rest - first))
}

#[tokio::test(start_paused = true)]
async fn a_test_answers_waits_and_crashes_at_will() {
    let fleet = Fleet::default();
    let mut task = TestTask::start(deploy("billing".to_owned(), State(fleet.clone()))).await;
    let question = task.asked("approval").await;
    assert!(question.params.get().contains("Deploy billing?"));
    task.crash().await;
    task.answer("approval", json!({"approve": true, "percent": 25}))
        .await;
    task.crash().await;
    let result = task.result().await;
    assert_eq!(result.structured::<u8>(), 75);
    assert_eq!(fleet.0.load(Ordering::SeqCst), 2, "each step once");
    assert_eq!(task.steps(), ["first", "rest"]);
    assert_eq!(task.statuses(), ["rolling out to 25%"]);
}

#[tokio::test(start_paused = true)]
async fn declining_timing_out_and_cancelling() {
    let start = async || TestTask::start(deploy("x".to_owned(), State(Fleet::default()))).await;
    let task = start().await;
    task.decline("approval").await;
    let result = task.result().await;
    assert!(
        result.is_error() && result.text().contains("declined"),
        "{}",
        result.text()
    );

    let task = start().await;
    task.asked("approval").await;
    tokio::time::sleep(Duration::from_secs(9 * 3600)).await;
    assert!(task.result().await.is_error());

    let task = start().await;
    task.asked("approval").await;
    task.cancel().await;
    assert_eq!(task.result().await.task().status(), TaskStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "it never was as waited for: it ended as")]
async fn what_can_no_longer_come_fails_the_test_with_words() {
    let task = TestTask::start(deploy("x".to_owned(), State(Fleet::default()))).await;
    task.decline("approval").await;
    task.until(|task| task.message.is_some()).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "`name` was never asked: it ended as")]
async fn a_question_that_never_comes_fails_the_test_with_words() {
    let task = TestTask::start(deploy("x".to_owned(), State(Fleet::default()))).await;
    task.decline("approval").await;
    task.asked("name").await;
}

/// Asks before it is a task.
#[mcp_task]
async fn sure_first() -> Result<String, ToolError> {
    if !ask_user::<bool>("Sure?").await? {
        return Ok("left as it was".to_owned());
    }
    start_task().await;
    let name: String = ask_user("Who?").await?;
    Ok(name)
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_before_a_task_exists_is_the_tasks_own_in_a_test() {
    let task = TestTask::start(sure_first()).await;
    task.answer("bool", json!({ "answer": true })).await;
    task.answer("name", json!({ "answer": "Luca" })).await;
    assert_eq!(task.result().await.text(), "Luca");
}
