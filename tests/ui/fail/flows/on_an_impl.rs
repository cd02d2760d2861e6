//! Methods are flows one by one.
use mcp_tasks::prelude::*;

struct Desk;

#[mcp_task_flow]
impl Desk {
    async fn confirm(&self, what: &str) -> Result<bool, AskError> {
        ask_user(what).await
    }
}

fn main() {}
