//! What is spawned is not part of the task.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

fn spawn(future: impl Future + Send + 'static) {
    drop(future);
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    spawn(confirm("Sure?"));
    Ok(String::new())
}

fn main() {}
