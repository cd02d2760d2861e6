//! A flow is run again with its task.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    std::future::ready(1).await;
    ask_user("Sure?").await
}

fn main() {}
