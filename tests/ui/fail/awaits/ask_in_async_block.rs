//! A nested block is not the task.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let block = async { ask_user::<bool>("Sure?").await.is_ok() };
    step_value(block).await;
    Ok(service)
}

fn main() {}
