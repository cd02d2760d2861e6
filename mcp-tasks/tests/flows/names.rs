//! Paths, aliases, shadowed names, and the user's own functions of our names.

use mcp_tasks::prelude::*;
use mcp_tasks::testing::TestTask;

use super::{answer_all, end};

#[mcp_task(ttl = "30d")]
async fn by_path() -> Result<String, ToolError> {
    let one: u8 = mcp_tasks::ask_user("One?").await?;
    let two = ::mcp_tasks::prelude::ask_user::<u8>("Two?").await?;
    mcp_tasks::step(async { Ok::<_, String>(1) })
        .key("three")
        .await?;
    mcp_tasks::sleep(Duration::from_secs(1)).await;
    let (four, _) = mcp_tasks::join!(mcp_tasks::ask_user::<u8>("Four?"), self::own::flow());
    mcp_tasks::set_status("by path");
    mcp_tasks::ask_user::<()>("End?").key("end").await?;
    Ok(format!("{one} {two} {}", four?))
}

#[tokio::test(start_paused = true)]
async fn our_calls_may_be_written_with_their_path() {
    let task = TestTask::start(by_path()).await;
    let keys = ["one", "two", "three", "sleep", "0/u8", "1/flow/answer"];
    assert_eq!(answer_all(&task).await, keys);
    assert_eq!(end(&task).await, "1 1 1");
}

/// Functions of a user, with names of ours.
mod own {
    use mcp_tasks::{AskError, mcp_task_flow};

    pub(super) fn step(number: u8) -> u8 {
        number + 1
    }

    pub(super) fn set_status(text: &str) -> usize {
        text.len()
    }

    pub(super) fn ask_user(question: &str) -> &str {
        question
    }

    #[mcp_task_flow]
    pub(super) async fn flow() -> Result<u8, AskError> {
        mcp_tasks::ask_user("Flow?").await
    }

    /// A flow may have a name of ours too.
    #[mcp_task_flow]
    pub(super) async fn sleep(seconds: u64) -> Result<u64, AskError> {
        let sure: bool = mcp_tasks::ask_user(format!("Sleep {seconds}?")).await?;
        mcp_tasks::sleep(std::time::Duration::from_secs(seconds)).await;
        Ok(u64::from(sure))
    }
}

mod shadowed {
    use mcp_tasks::{ToolError, ask_user, mcp_task};

    use super::own::{set_status, sleep, step};

    #[mcp_task(ttl = "30d")]
    pub(super) async fn count(number: u8) -> Result<String, ToolError> {
        fn now() -> u8 {
            1
        }
        let next = step(number) + step(2);
        let length = set_status("text") + super::own::ask_user("text").len();
        let slept = sleep(5).await?;
        let random = |n: u8| n;
        ask_user::<()>("End?").key("end").await?;
        Ok(format!("{next} {length} {slept} {} {}", now(), random(2)))
    }
}

#[tokio::test(start_paused = true)]
async fn functions_of_a_user_keep_their_meaning_whatever_they_are_called() {
    let task = TestTask::start(shadowed::count(1)).await;
    assert_eq!(answer_all(&task).await, ["slept/sure", "slept/sleep"]);
    assert_eq!(end(&task).await, "5 8 1 1 2");
}

/// A user's own flow around a question, under a name that they like better.
#[mcp_task_flow]
async fn ask<T: Elicit + Send>(question: &str) -> Result<T, AskError> {
    ask_user(question).await
}

#[mcp_task(ttl = "30d")]
async fn wrapped() -> Result<String, ToolError> {
    let share: u8 = ask("Share?").await?;
    ask_user::<()>("End?").key("end").await?;
    Ok(share.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_flow_may_stand_in_for_a_call_of_ours() {
    let task = TestTask::start(wrapped()).await;
    assert_eq!(answer_all(&task).await, ["share/answer"]);
    assert_eq!(end(&task).await, "1");
}
