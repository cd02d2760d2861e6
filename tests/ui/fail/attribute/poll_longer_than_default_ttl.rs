//! A client looks while the task lives.
use mcp_tasks::prelude::*;

#[mcp_task(poll_interval = "2d")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
