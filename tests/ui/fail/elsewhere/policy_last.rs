//! The policy is the first argument.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step_with(|| plan(&service), Retry::attempts(3)).await?;
    Ok(plan)
}

fn main() {}
