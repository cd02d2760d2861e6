//! A key has at least one character.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<bool>("Sure?").key("").await?;
    Ok(service)
}

fn main() {}
