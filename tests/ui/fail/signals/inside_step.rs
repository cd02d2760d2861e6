//! A step is recorded as a whole.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(async { signal::<String>("built").await }).await?;
    Ok(service)
}

fn main() {}
