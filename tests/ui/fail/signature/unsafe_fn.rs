//! Clients call it with any arguments.
use mcp_tasks::prelude::*;

#[mcp_task]
async unsafe fn deploy(service: String) -> String {
    service
}

fn main() {}
