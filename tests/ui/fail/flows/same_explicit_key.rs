//! The two could not be told apart.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let first = confirm("Sure?").await?;
    let second = confirm("Really?").key("first").await?;
    set_status((first && second).to_string());
    Ok(String::new())
}

fn main() {}
