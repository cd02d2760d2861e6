//! There is nothing to bound.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer
where
    Deployer: Send,
{
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
