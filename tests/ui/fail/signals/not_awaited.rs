//! A signal is taken by awaiting it.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    signal::<u32>("built");
    Ok(service)
}

fn main() {}
