//! The same, where it is not there.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[cfg(any())] _service: String, region: String) -> String {
    region
}

fn main() {}
