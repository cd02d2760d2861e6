//! The time is another on a replay.
use mcp_tasks::prelude::*;

use std::time::Instant;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _: Vec<_> = (0..3).map(|_| Instant::now()).collect();
    Ok(service)
}

fn main() {}
