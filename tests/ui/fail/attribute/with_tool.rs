//! What rmcp calls a tool is one by `#[mcp_task]` alone.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    #[tool(description = "Deploys")]
    async fn deploy(&self, service: String) -> String {
        service
    }
}

fn main() {}
