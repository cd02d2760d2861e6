//! One attribute for each method.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    #[mcp_task(ttl = "1h")]
    async fn deploy(&self, service: String) -> String {
        service
    }
}

fn main() {}
