//! It is a number, not a text.
use mcp_tasks::prelude::*;

#[mcp_task(concurrency = "4")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
