//! As Restate has it; a step is named otherwise here.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step("plan", || plan(&service)).await?;
    Ok(plan)
}

fn main() {}
