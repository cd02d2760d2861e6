//! What is printed is printed again on a replay.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    println!("deploying {service}");
    Ok(service)
}

fn main() {}
