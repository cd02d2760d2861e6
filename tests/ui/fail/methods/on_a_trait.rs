//! The methods of a trait have no one body.
use mcp_tasks::prelude::*;

#[mcp_task_impl]
trait Deploys {
    #[mcp_task]
    async fn deploy(&self, service: String) -> String;
}

fn main() {}
