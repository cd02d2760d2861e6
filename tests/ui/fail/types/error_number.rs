//! An error converts into a `ToolError`.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(code: u32) -> Result<String, u32> {
    Err(code)
}

fn main() {}
