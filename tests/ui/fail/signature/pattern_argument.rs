//! Clients see the names of arguments.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy((service, count): (String, u32)) -> String {
    format!("{service} {count}")
}

fn main() {}
