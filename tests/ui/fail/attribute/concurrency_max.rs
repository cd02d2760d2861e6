//! The key by another name.
use mcp_tasks::prelude::*;

#[mcp_task(max_concurrency = 4)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
