//! A result is text, content or `Json`.
use mcp_tasks::prelude::*;

struct Deployed;

#[mcp_task]
async fn deploy(service: String) -> Result<Deployed, ToolError> {
    drop(service);
    Ok(Deployed)
}

fn main() {}
