//! An alias is not seen by the attribute.
use mcp_tasks::prelude::*;

use mcp_tasks::prelude::ask_user as question;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = question("Sure?").await?;
    let _ = sure;
    Ok(service)
}

fn main() {}
