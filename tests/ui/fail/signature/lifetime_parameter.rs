//! A task outlives every borrow of its caller.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy<'a>(service: String) -> String {
    service
}

fn main() {}
