//! A tool has one schema.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy<T>(service: T) -> String {
    let _ = service;
    String::new()
}

fn main() {}
