//! A value is recorded as it is: an error must be too.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step_value(plan(&service)).await?;
    Ok(plan)
}

fn main() {}
