//! A flow is a part of tasks, and no tool.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: String) -> Result<bool, AskError> {
    ask_user(what).await
}

fn main() {
    mcp_tasks::runtime::Runtime::builder("test", "1").task(confirm);
}
