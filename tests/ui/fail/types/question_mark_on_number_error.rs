//! An error of another kind is turned into a `ToolError`.
use mcp_tasks::prelude::*;

fn check(service: &str) -> Result<(), usize> {
    Err(service.len())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    check(&service)?;
    Ok(service)
}

fn main() {}
