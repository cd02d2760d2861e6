//! A step does nothing until it is awaited.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(plan(&service));
    Ok(service)
}

fn main() {}
