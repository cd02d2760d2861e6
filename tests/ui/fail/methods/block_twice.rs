//! One attribute for each block.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn deploy(&self, service: String) -> String {
        service
    }
}

fn main() {}
