//! A flow is run again with its task.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(path: &str) -> Result<bool, AskError> {
    tokio::fs::read_to_string(path).await.is_ok();
    ask_user("Sure?").await
}

fn main() {}
