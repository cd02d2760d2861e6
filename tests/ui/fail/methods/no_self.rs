//! Without `self` it is a function.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn deploy() -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
