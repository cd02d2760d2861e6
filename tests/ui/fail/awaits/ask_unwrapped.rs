//! What takes the answer comes after the await.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let name: String = ask_user(service).unwrap();
    Ok(name)
}

fn main() {}
