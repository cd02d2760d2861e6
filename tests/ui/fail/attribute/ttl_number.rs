//! A duration is text.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = 3600)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
