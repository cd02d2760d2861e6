//! A name is text.
use mcp_tasks::prelude::*;

#[mcp_task(name = 7)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
