//! A timer of another crate is not recorded.
use mcp_tasks::prelude::*;

mod tokio {
    pub mod time {
        pub async fn sleep(_: std::time::Duration) {}
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(service)
}

fn main() {}
