//! The value is there when it has been awaited.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let number: u32 = signal("built")?;
    Ok(format!("{service} {number}"))
}

fn main() {}
