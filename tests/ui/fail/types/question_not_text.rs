//! A question is text.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(count: u32) -> Result<String, ToolError> {
    let sure: bool = ask_user(count).await?;
    Ok(sure.to_string())
}

fn main() {}
