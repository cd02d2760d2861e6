//! A value comes after `=`.
use mcp_tasks::prelude::*;

#[mcp_task(ttl("24h"))]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
