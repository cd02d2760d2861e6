//! The attribute goes on a function.
use mcp_tasks::prelude::*;

#[mcp_task]
struct Deploy {
    service: String,
}

fn main() {}
