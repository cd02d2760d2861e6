//! A question is not its answer.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    match ask_user::<bool>("Sure?") {
        Ok(sure) => Ok(format!("{service} {sure}")),
        Err(error) => Err(error.into()),
    }
}

fn main() {}
