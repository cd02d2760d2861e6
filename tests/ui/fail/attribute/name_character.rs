//! The characters of a name are listed.
use mcp_tasks::prelude::*;

#[mcp_task(name = "deploy service")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
