//! A task moves between threads, and its flows with it.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm<T: Into<String>>(what: T) -> Result<bool, AskError> {
    ask_user(what).await
}

fn main() {}
