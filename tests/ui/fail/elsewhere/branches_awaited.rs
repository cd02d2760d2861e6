//! The macro awaits its branches.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn plan(service: &str) -> Result<bool, AskError> {
    ask_user(service).await
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let (left, right) = join!(left: ask_user::<bool>("Left?").await, right: plan(&service).await?);
    Ok(format!("{left:?} {right:?}"))
}

fn main() {}
