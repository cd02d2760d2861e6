//! A step has no time limit of its own.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(plan(&service)).timeout(Duration::from_secs(3)).await?;
    Ok(plan)
}

fn main() {}
