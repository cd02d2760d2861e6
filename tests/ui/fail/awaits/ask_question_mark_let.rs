//! `?` awaits nothing.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = ask_user("Sure?")?;
    Ok(format!("{service} {sure}"))
}

fn main() {}
