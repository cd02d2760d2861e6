//! Without `async` there is nothing to await.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
