//! An answer that may be missing is an `.optional()` question.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let reason: Option<String> = ask_user("Why?").await?;
    Ok(format!("{service} {reason:?}"))
}

fn main() {}
