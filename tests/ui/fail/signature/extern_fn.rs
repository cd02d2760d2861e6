//! A task function has no ABI of its own.
use mcp_tasks::prelude::*;

#[mcp_task]
async extern "C" fn deploy(service: String) -> String {
    service
}

fn main() {}
