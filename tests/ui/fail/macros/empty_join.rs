//! A join has branches.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    join!();
    Ok(service)
}

fn main() {}
