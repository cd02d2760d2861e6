//! Nothing is asked.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    confirm("Sure?");
    Ok(String::new())
}

fn main() {}
