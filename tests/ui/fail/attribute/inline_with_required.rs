//! A required task never answers in line.
use mcp_tasks::prelude::*;

#[mcp_task(support = "required", inline = "50ms")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
