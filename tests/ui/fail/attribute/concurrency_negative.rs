//! So many functions run at once: a positive number.
use mcp_tasks::prelude::*;

#[mcp_task(concurrency = -1)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
