//! A question is asked before the step, not as one.
use mcp_tasks::prelude::*;

#[derive(Elicit)]
struct Approval {
    approve: bool,
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let approval: Approval = step(ask_user(service)).await?;
    Ok(approval.approve.to_string())
}

fn main() {}
