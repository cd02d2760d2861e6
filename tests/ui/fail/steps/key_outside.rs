//! Only a step has such a key.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let key = step_key();
    Ok(format!("{service} {key}"))
}

fn main() {}
