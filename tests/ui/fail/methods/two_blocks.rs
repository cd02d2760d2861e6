//! One block registers all.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn other(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
