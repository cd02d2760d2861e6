//! A function may need another name for its tool.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn déployer(service: String) -> String {
    service
}

fn main() {}
