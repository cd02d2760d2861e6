//! The closure makes a future.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step_with(Retry::attempts(3), || service.len()).await?;
    Ok(service)
}

fn main() {}
