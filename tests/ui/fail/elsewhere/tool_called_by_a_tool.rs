//! A part of a tool is a flow.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn deploy(&self, service: String) -> Result<String, ToolError> {
        let plan = self.plan(service).await?;
        Ok(plan)
    }

    #[mcp_task]
    async fn plan(&self, service: String) -> Result<String, ToolError> {
        Ok(service)
    }
}

fn main() {}
