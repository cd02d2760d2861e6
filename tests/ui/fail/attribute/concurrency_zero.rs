//! A tool of which none may run at once would never run.
use mcp_tasks::prelude::*;

#[mcp_task(concurrency = 0)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
