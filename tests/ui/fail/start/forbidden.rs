//! A tool that never becomes a task, and says where it does.
use mcp_tasks::prelude::*;

#[mcp_task(support = "forbidden")]
async fn deploy(service: String) -> Result<String, ToolError> {
    start_task().await;
    Ok(service)
}

fn main() {}
