//! Clients start a tool, and nobody else does.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn main() -> Result<(), AskError> {
    ask_user("Sure?").await
}
