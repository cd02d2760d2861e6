//! Without `async` there is nothing to await.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
fn confirm(what: &str) -> Result<bool, AskError> {
    let sure: bool = ask_user(what).await?;
    Ok(sure)
}

fn main() {}
