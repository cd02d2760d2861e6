//! `join_all` binds what its closure gives.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let calls = vec![confirm("Sure?"), confirm("Really?")];
    join_all(calls).await;
    Ok(String::new())
}

fn main() {}
