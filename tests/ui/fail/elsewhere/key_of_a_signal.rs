//! A signal goes by its name.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let built: String = signal("built").key("again").await?;
    Ok(built + &service)
}

fn main() {}
