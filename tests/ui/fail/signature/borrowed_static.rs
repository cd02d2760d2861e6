//! An argument cannot be borrowed for ever either.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: &'static str) -> String {
    service.to_owned()
}

fn main() {}
