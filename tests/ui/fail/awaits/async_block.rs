//! A block is not recorded.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let length = async { service.len() }.await;
    Ok(format!("{length}"))
}

fn main() {}
