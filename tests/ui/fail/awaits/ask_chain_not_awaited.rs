//! A chain on an ask awaits nothing.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<bool>("Sure?").timeout(Duration::from_secs(1));
    Ok(service)
}

fn main() {}
