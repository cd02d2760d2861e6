//! A task outlives the call that starts it.
use mcp_tasks::prelude::*;

struct Deployer<'a>(&'a str);

#[mcp_task_impl]
impl Deployer<'_> {
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
