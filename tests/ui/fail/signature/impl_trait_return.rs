//! The type of a result is named.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> impl Into<String> {
    service
}

fn main() {}
