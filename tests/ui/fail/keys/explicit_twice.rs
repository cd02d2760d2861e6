//! Explicit keys are told apart too.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let first: bool = ask_user("Sure?").key("sure").await?;
    let second: bool = ask_user("Sure?").key("sure").await?;
    let _ = (first, second);
    Ok(service)
}

fn main() {}
