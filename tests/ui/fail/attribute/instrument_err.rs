//! Below ours, `#[tracing::instrument]` sees the call that is built.
use mcp_tasks::prelude::*;

#[mcp_task]
#[tracing::instrument(skip_all, err)]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = ask_user("Sure?").await?;
    Ok(format!("{service} {sure}"))
}

fn main() {}
