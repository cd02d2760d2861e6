//! What is asked before the task is asked over several calls, each of which runs
//! the function again.
use mcp_tasks::prelude::*;

#[mcp_task(replay = false)]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<()>(format!("Deploy {service}?")).await?;
    start_task().await;
    Ok(service)
}

fn main() {}
