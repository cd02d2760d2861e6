//! What it gives has a named type.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm() -> Result<impl Clone, AskError> {
    let sure: bool = ask_user("Sure?").await?;
    Ok(sure)
}

fn main() {}
