//! What is read back after a restart borrows nothing.
use mcp_tasks::prelude::*;

async fn first(text: &str) -> std::io::Result<&str> {
    Ok(text.trim())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let first = step(first(&service)).await?;
    Ok(first.to_owned())
}

fn main() {}
