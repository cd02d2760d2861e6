//! Another process may have another environment.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let home = std::env::var("HOME")?;
    Ok(service + &home)
}

fn main() {}
