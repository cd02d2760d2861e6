//! An answer has a form.
use mcp_tasks::prelude::*;

struct Approval {
    approve: bool,
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let approval: Approval = ask_user("Sure?").await?;
    Ok(format!("{service} {}", approval.approve))
}

fn main() {}
