//! A value cannot be awaited.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = service.len().await;
    Ok(service)
}

fn main() {}
