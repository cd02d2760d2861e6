//! A hash precedes the number of a pass.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<bool>("Sure?").key("a#2").await?;
    Ok(service)
}

fn main() {}
