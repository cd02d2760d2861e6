//! An infallible step has a function of its own.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(async { 3 }).await?;
    Ok(service)
}

fn main() {}
