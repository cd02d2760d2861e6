//! Where a call becomes a task is the tool's affair.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn begin(service: &str) -> Result<(), AskError> {
    ask_user::<()>(format!("Deploy {service}?")).await?;
    start_task().await;
    Ok(())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    begin(&service).await?;
    Ok(service)
}

fn main() {}
