//! An error of another kind is turned into a `ToolError`.
use mcp_tasks::prelude::*;

fn check(service: &str) -> Result<(), String> {
    Err(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    check(&service)?;
    Ok(service)
}

fn main() {}
