//! What runs again cannot ask again.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    unrecorded(async { ask_user::<bool>("Sure?").await }).await?;
    Ok(service)
}

fn main() {}
