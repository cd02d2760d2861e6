//! An ask gives a `Result`.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    if ask_user::<bool>("Sure?").await {
        return Ok(service);
    }
    Ok(String::new())
}

fn main() {}
