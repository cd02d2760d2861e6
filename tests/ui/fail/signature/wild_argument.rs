//! Clients see the names of arguments.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(_: String) -> String {
    String::new()
}

fn main() {}
