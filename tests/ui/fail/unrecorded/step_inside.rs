//! A step runs once, and this again and again.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = unrecorded(async { step(plan(&service)).await }).await?;
    Ok(plan)
}

fn main() {}
