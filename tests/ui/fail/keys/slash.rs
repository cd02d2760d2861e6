//! A slash separates the parts of a key.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<bool>("Sure?").key("a/b").await?;
    Ok(service)
}

fn main() {}
