//! The type has no name.
use mcp_tasks::prelude::*;

trait Deploys: Send + Sync {}

#[mcp_task_impl]
impl dyn Deploys {
    #[mcp_task]
    async fn deploy(&self) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?").await?;
        Ok(String::new())
    }
}

fn main() {}
