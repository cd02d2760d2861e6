//! A trait has signatures of its own.
use mcp_tasks::prelude::*;

struct Deployer;

#[allow(async_fn_in_trait)]
trait Deploys {
    async fn deploy(&self) -> Result<String, ToolError>;
}

#[mcp_task_impl]
impl Deploys for Deployer {
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
