//! The time is another on a replay.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = std::time::SystemTime::now();
    Ok(service)
}

fn main() {}
