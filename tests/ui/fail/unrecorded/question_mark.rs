//! The value is there when it has been awaited.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = unrecorded(plan(&service))?;
    Ok(plan)
}

fn main() {}
