//! Only the task itself is bound.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let ask = async |what: &str| confirm(what).await;
    drop(ask);
    Ok(String::new())
}

fn main() {}
