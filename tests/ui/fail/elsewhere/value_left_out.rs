//! A key that is being typed.
use mcp_tasks::prelude::*;

#[mcp_task(name = "deploy", ttl = )]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
