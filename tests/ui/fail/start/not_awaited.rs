//! Nothing begins before it is awaited.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    start_task();
    Ok(service)
}

fn main() {}
