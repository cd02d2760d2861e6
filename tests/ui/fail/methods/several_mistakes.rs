//! All of them are said at once.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task(tll = "1h")]
    fn deploy(&mut self, service: &str) -> Result<String, ToolError> {
        ask_user::<bool>("Sure?");
        Ok(service.to_owned())
    }

    #[mcp_task(name = "two words")]
    async fn other(&self, (a, b): (u8, u8)) -> String {
        format!("{a}{b}")
    }
}

fn main() {}
