//! The mark is imported like any other attribute.
use mcp_tasks::mcp_task_impl;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn deploy(&self, service: String) -> String {
        service
    }
}

fn main() {}
