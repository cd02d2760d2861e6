//! An attribute that takes the body apart stands below.
use mcp_tasks::prelude::*;

#[tracing::instrument(skip_all)]
#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = ask_user("Sure?").await?;
    Ok(format!("{service} {sure}"))
}

fn main() {}
