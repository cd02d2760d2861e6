//! A duration fits.
use mcp_tasks::prelude::*;

#[mcp_task(ttl = "99999999999999d")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
