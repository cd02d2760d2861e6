//! An argument has a type that it is decoded into.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: impl Into<String>) -> String {
    service.into()
}

fn main() {}
