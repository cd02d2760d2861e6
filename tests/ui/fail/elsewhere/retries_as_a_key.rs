//! Steps are tried again, not tasks.
use mcp_tasks::prelude::*;

#[mcp_task(retries = 3)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
