//! Only a task draws from its own seed.
use mcp_tasks::prelude::*;

fn name() -> String {
    uuid().to_string()
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    Ok(format!("{service} {}", name()))
}

fn main() {}
