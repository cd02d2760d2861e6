//! An attribute cannot see what a condition comes to.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(#[cfg(unix)] what: &str) -> Result<bool, AskError> {
    ask_user("Sure?").await
}

fn main() {}
