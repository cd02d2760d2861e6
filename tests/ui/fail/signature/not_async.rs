//! A task function is an `async fn`.
use mcp_tasks::prelude::*;

#[mcp_task]
fn deploy(service: String) -> String {
    service
}

fn main() {}
