//! A step that is tried again is made by another function.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(plan(&service)).retry(3).await?;
    Ok(plan)
}

fn main() {}
