//! Two sites of one function have two keys.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = ask_user("Sure?").await?;
    let sure: bool = ask_user(format!("Really {sure}?")).await?;
    let _ = sure;
    Ok(service)
}

fn main() {}
