//! Without a grace there is nothing to clean up in.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    cancelled().await;
    Ok(service)
}

fn main() {}
