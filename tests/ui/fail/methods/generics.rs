//! A tool has one schema.
use mcp_tasks::prelude::*;

struct Deployer<T>(T);

#[mcp_task_impl]
impl<T: Send + Sync + 'static> Deployer<T> {
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
