//! Time to live, name and the like are the task's.
use mcp_tasks::prelude::*;

#[mcp_task_flow(ttl = "1h")]
async fn confirm() -> Result<bool, AskError> {
    ask_user("Sure?").await
}

fn main() {}
