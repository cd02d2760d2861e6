//! The block does not see what rustc expands only later.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[cfg_attr(all(), mcp_task)]
    async fn deploy(&self, service: String) -> String {
        service
    }
}

fn main() {}
