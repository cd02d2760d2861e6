//! Only a task is sent signals.
use mcp_tasks::prelude::*;

async fn built() -> Result<String, SignalError> {
    signal("built").await
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let artifact = step(built()).await?;
    Ok(format!("{service} {artifact}"))
}

fn main() {}
