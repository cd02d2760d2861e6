//! A body without a value is shown where it stands.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = ask_user(service).await?;
}

fn main() {}
