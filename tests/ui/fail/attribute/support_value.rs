//! The values of `support` are listed.
use mcp_tasks::prelude::*;

#[mcp_task(support = "always")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
