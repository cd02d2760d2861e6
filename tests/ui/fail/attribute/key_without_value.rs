//! A key has a value.
use mcp_tasks::prelude::*;

#[mcp_task(replay)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
