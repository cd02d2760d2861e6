//! A key is given once.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "1h", ttl = "2h")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
