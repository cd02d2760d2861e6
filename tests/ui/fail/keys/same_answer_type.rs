//! Two asks for one type need names.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    if ask_user::<bool>("Sure?").await? && ask_user::<bool>("Really?").await? {
        return Ok(String::new());
    }
    Ok(service)
}

fn main() {}
