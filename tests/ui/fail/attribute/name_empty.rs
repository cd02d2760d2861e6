//! A name has at least one character.
use mcp_tasks::prelude::*;

#[mcp_task(name = "")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
