//! A call becomes a task once.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    start_task().await;
    let sure: bool = ask_user(format!("Deploy {service}?")).await?;
    if sure {
        start_task().await;
    }
    Ok(service)
}

fn main() {}
