//! A list in a form is a choice.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let hosts = ask_user::<Vec<String>>("Which?").await?;
    Ok(format!("{service} {hosts:?}"))
}

fn main() {}
