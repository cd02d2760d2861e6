//! A duration has a unit.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "24")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
