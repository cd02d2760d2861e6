//! A name is a text.
use mcp_tasks::prelude::*;

#[mcp_task(name = deploy_all)]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
