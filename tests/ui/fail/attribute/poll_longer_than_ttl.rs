//! A client looks while the task lives.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "1m", poll_interval = "2m")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
