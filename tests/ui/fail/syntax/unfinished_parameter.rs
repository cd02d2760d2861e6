//! Nothing is said of the body of a function that cannot be read.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service) -> Result<String, ToolError> {
    ask_user::<()>("Sure?").await?;
    Ok(service)
}

fn main() {}
