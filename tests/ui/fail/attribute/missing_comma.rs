//! Entries are separated by commas.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "1h" title = "Deploy")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
