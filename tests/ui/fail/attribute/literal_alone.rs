//! A value has a key.
use mcp_tasks::prelude::*;

#[mcp_task("24h")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
