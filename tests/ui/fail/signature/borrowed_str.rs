//! An argument is owned.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: &str) -> String {
    service.to_owned()
}

fn main() {}
