//! Only a ttl can be none.
use mcp_tasks::prelude::*;

#[mcp_task(poll_interval = "none")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
