//! A tool is called by clients only.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn plan(service: String) -> Result<String, ToolError> {
    Ok(service)
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = plan(service).await?;
    Ok(plan)
}

fn main() {}
