//! A task function runs at run time.
use mcp_tasks::prelude::*;

#[mcp_task]
const fn deploy(service: String) -> String {
    service
}

fn main() {}
