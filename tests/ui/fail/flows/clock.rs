//! A flow is run again with its task.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    let now = std::time::Instant::now();
    ask_user(format!("{now:?}")).await
}

fn main() {}
