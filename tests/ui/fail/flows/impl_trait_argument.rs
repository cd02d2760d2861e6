//! The type has a name, if only that of a parameter.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: impl Into<String> + Send) -> Result<bool, AskError> {
    ask_user(what).await
}

fn main() {}
