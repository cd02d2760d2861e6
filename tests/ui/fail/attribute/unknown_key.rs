//! The nearest known key is named.
use mcp_tasks::prelude::*;

#[mcp_task(polling_interval = "1s")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
