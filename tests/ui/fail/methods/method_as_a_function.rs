//! A method belongs to a value, which the server needs.
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

fn main() {
    mcp_tasks::runtime::Runtime::builder("test", "1").task(Deployer::deploy);
}
