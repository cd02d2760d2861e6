//! A helper function without an attribute of its own.
use mcp_tasks::prelude::*;

async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user::<bool>(format!("{what}?")).await
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure = confirm(&service).await?;
    Ok(format!("{sure}"))
}

fn main() {}
