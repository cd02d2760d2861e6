//! `?` awaits nothing.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(plan(&service))?;
    Ok(plan)
}

fn main() {}
