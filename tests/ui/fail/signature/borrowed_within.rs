//! A borrow within a type is a borrow.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(services: Vec<&str>) -> String {
    services.concat()
}

fn main() {}
