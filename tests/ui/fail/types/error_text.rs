//! An error converts into a `ToolError`.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, String> {
    Err(service)
}

fn main() {}
