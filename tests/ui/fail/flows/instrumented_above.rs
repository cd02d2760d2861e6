//! The other attribute has hidden the body.
use mcp_tasks::prelude::*;

#[tracing::instrument]
#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    ask_user("Sure?").await
}

fn main() {}
