//! Not everything can be drawn.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let byte = random::<u8>();
    Ok(format!("{service} {byte}"))
}

fn main() {}
