//! A task suspends only in its own body.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let ask = || ask_user::<bool>("Sure?");
    let _ = ask().await?;
    Ok(service)
}

fn main() {}
