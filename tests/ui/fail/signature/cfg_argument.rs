//! An argument is there or not.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String, #[cfg(unix)] mode: u32) -> String {
    let _ = mode;
    service
}

fn main() {}
