//! A call is no result.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let sure = confirm("Sure?")?;
    set_status(sure.to_string());
    Ok(String::new())
}

fn main() {}
