//! Clients call a tool, tasks await a flow.
use mcp_tasks::prelude::*;

#[mcp_task]
#[mcp_task_flow]
async fn deploy(service: String) -> Result<String, ToolError> {
    Ok(service)
}

fn main() {}
