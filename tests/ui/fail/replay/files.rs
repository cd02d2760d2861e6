//! What is on the disk may have changed.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let text = std::fs::read_to_string(&service)?;
    Ok(text)
}

fn main() {}
