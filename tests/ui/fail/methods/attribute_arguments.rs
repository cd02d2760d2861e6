//! Each method has its own.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl(ttl = "1h")]
impl Deployer {
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
