//! Versions count from 1.
use mcp_tasks::prelude::*;

#[mcp_task(version = 0)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
