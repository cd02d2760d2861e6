//! A task suspends only in its own body.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    async fn sure() -> bool {
        ask_user::<bool>("Sure?").await.is_ok()
    }
    let _ = step_value(sure()).await;
    Ok(service)
}

fn main() {}
