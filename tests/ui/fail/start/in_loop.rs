//! A call becomes a task once.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(services: Vec<String>) -> Result<String, ToolError> {
    for service in &services {
        ask_user::<()>(format!("Deploy {service}?")).await?;
        start_task().await;
    }
    Ok(services.join(", "))
}

fn main() {}
