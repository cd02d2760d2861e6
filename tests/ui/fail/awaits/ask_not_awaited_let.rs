//! `let _` awaits nothing.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = ask_user::<bool>("Sure?");
    Ok(service)
}

fn main() {}
