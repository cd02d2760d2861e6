//! A duration is not prose.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "one day")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
