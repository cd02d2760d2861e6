//! A timer does nothing until it is awaited.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    sleep(Duration::from_secs(1));
    Ok(service)
}

fn main() {}
