//! A step runs a future.
use mcp_tasks::prelude::*;

fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(plan(&service)).await?;
    Ok(plan)
}

fn main() {}
