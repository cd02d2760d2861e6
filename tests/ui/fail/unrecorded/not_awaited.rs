//! A future runs when it is awaited.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    unrecorded(plan(&service));
    Ok(service)
}

fn main() {}
