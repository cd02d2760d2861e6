//! A question is no result.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, AskError> {
    ask_user(service)
}

fn main() {}
