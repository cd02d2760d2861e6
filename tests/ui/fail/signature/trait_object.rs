//! What is decoded has a type.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(fleet: Box<dyn Fn(u8) -> u8>) -> String {
    fleet(3).to_string()
}

fn main() {}
