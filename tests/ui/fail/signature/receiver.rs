//! State is in an extractor, not in `self`.
use mcp_tasks::prelude::*;

struct Deployer;

impl Deployer {
    #[mcp_task]
    async fn deploy(&self, service: String) -> Result<String, ToolError> {
        let sure: bool = ask_user("Sure?").await?;
        Ok(format!("{service} {sure}"))
    }
}

fn main() {}
