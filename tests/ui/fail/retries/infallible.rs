//! What cannot fail needs no second attempt.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step_with(Retry::attempts(3), || async { 3 }).await?;
    Ok(service)
}

fn main() {}
