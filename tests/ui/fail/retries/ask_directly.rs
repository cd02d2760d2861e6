//! Nor is it an attempt.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let name: String = step_with(Retry::attempts(3), || ask_user(&service)).await?;
    Ok(name)
}

fn main() {}
