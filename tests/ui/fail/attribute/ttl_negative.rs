//! A duration is longer than zero.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "-1h")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
