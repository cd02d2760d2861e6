//! It takes a future.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    unrecorded(service.len()).await;
    Ok(service)
}

fn main() {}
