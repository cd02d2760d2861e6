//! In a closure there is nothing to await.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let name: Option<String> = Some(service).and_then(|question| ask_user(question).await.ok());
    Ok(name.unwrap_or_default())
}

fn main() {}
