//! A function that asks for a task has an attribute of its own.
use mcp_tasks::prelude::*;

async fn confirm() -> Result<bool, AskError> {
    let sure: bool = ask_user("Sure?").await?;
    Ok(sure)
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let sure = confirm().await?;
    Ok(sure.to_string())
}

fn main() {}
