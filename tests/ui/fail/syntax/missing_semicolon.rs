//! The calls around a mistake are bound all the same.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    for host in [1, 2] {
        let sure: bool = ask_user("Sure?").await?
        sleep(Duration::from_secs(host)).await;
    }
    Ok(service)
}

fn main() {}
