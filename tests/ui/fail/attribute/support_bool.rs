//! The values of `support` are listed.
use mcp_tasks::prelude::*;

#[mcp_task(support = true)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
