//! Nobody else calls it.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async extern "C" fn confirm() -> Result<bool, AskError> {
    ask_user("Sure?").await
}

fn main() {}
