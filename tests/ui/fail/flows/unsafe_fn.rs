//! Nothing is called where the `unsafe` block would stand.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async unsafe fn confirm() -> Result<bool, AskError> {
    ask_user("Sure?").await
}

fn main() {}
