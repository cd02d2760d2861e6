//! Keys are told apart in a flow as in a task.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    Ok(ask_user::<bool>("Sure?").await? && ask_user::<bool>("Really?").await?)
}

fn main() {}
