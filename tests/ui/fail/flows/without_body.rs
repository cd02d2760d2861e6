//! What a trait only declares is no flow.
use mcp_tasks::prelude::*;

trait Confirms {
    #[mcp_task_flow]
    async fn confirm(&self, what: &str) -> Result<bool, AskError>;
}

fn main() {}
