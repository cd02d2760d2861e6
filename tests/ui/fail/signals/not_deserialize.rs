//! A value is read from JSON.
use mcp_tasks::prelude::*;

struct Built {
    artifact: String,
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let built: Built = signal("built").await?;
    Ok(built.artifact)
}

fn main() {}
