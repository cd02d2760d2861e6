//! The other methods of a block are not touched by a mistake in one.
use mcp_tasks::prelude::*;

struct Deployer {
    region: String,
}

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    async fn deploy(&self, service: String) -> Result<String, ToolError> {
        ask_user::<()>(service).await?;
        self.
    }

    #[mcp_task]
    async fn remove(&self, service: String) -> Result<String, ToolError> {
        ask_user::<()>(service).await?;
        Ok(self.region.clone())
    }
}

fn serve(deployer: Deployer) {
    let _ = mcp_tasks::runtime::Runtime::builder("deployer", "1").tasks_of(deployer);
}

fn main() {}
