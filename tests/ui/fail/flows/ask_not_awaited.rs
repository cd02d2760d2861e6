//! Nothing is asked.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    ask_user::<bool>("Sure?");
    Ok(true)
}

fn main() {}
