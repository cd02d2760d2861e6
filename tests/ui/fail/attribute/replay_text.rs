//! `replay` is a bool.
use mcp_tasks::prelude::*;

#[mcp_task(replay = "false")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
