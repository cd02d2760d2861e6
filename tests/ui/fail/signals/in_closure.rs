//! A closure is not part of the task.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let built = || signal::<String>("built");
    built().await?;
    Ok(service)
}

fn main() {}
