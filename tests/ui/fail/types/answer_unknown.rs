//! An answer's type is known.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user("Sure?").await?;
    Ok(service)
}

fn main() {}
