//! As rmcp has it; ours has an attribute for the block.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task]
impl Deployer {
    async fn deploy(&self, service: String) -> String {
        service
    }
}

fn main() {}
