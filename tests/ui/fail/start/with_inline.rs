//! Two ways to say when a call becomes a task.
use mcp_tasks::prelude::*;

#[mcp_task(inline = "50ms")]
async fn deploy(service: String) -> Result<String, ToolError> {
    start_task().await;
    Ok(service)
}

fn main() {}
