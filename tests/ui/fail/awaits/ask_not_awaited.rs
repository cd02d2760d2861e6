//! An ask does nothing until it is awaited.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<bool>("Sure?");
    Ok(service)
}

fn main() {}
