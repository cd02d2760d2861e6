//! What others do to a task: signals and cancellation.

use mcp_tasks::prelude::*;
use mcp_tasks::task::TaskId;
use mcp_tasks::{ProtocolError, Tasks};

use super::Report;
use crate::world::World;

#[mcp_task(poll_interval = "5ms")]
pub(super) async fn mailbox(
    label: String,
    State(world): State<World>,
) -> Result<String, ToolError> {
    let mut report = Report::default();
    set_status(label);
    for _ in 1..=3 {
        let letter: String = signal("letter").await?;
        report.saw("signal", letter);
        let file = step(world.act(step_key())).await?;
        report.saw("step", file);
    }
    Ok(report.into_text())
}

/// Sends a letter.
#[mcp_task(support = "forbidden")]
pub(super) async fn post(
    task: String,
    letter: String,
    State(tasks): State<Tasks>,
) -> Result<&'static str, ToolError> {
    let sent = step(send(&tasks, &task, &letter)).await?;
    Ok(if sent { "sent" } else { "unknown" })
}

async fn send(tasks: &Tasks, task: &str, letter: &str) -> Result<bool, ProtocolError> {
    tasks
        .signal(&TaskId::from_text(task), "letter", letter)
        .await
}

/// Counts the tasks that live, and those whose functions are in this process's
/// memory.
#[mcp_task(support = "forbidden")]
pub(super) async fn count(State(tasks): State<Tasks>) -> Result<String, ToolError> {
    let counted = step(counted(&tasks)).await?;
    Ok(counted)
}

async fn counted(tasks: &Tasks) -> Result<String, ProtocolError> {
    let stats = tasks.stats().await?;
    Ok(format!(
        "{} live, {} resident",
        stats.store.live, stats.resident
    ))
}

/// Cleans up when it is cancelled.
#[mcp_task(poll_interval = "5ms", cancel_grace = "5s")]
pub(super) async fn tidy(label: String, State(world): State<World>) -> Result<String, ToolError> {
    let mut report = Report::default();
    let write = step(world.act(step_key())).await?;
    report.saw("step", write);
    let stopped = race!(
        person: async {
            let answer: Result<String, AskError> =
                ask_user(format!("{label}: or will you cancel?")).await;
            Some(answer)
        },
        stop: async {
            cancelled().await;
            None
        },
    );
    match stopped {
        Some(answer) => report.outcome("person", answer),
        None => report.saw("cancelled", "by the client"),
    }
    let tidy = step(world.act(step_key())).await?;
    report.saw("step", tidy);
    Ok(report.into_text())
}

/// Has little time.
#[mcp_task(poll_interval = "5ms")]
pub(super) async fn brief(label: String, State(world): State<World>) -> Result<String, ToolError> {
    set_ttl(Duration::from_millis(150));
    step(world.act(step_key())).key("write").await?;
    let late: String = ask_user(format!("{label}: anybody?")).await?;
    Ok(format!("answer {late}"))
}
