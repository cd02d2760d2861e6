//! The two could not be told apart.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let (left, _) = join!(left: confirm("Sure?"), right: confirm("Really?"));
    left?;
    let right = confirm("Why?").await?;
    set_status(right.to_string());
    Ok(String::new())
}

fn main() {}
