//! What is spawned is not the task.
use mcp_tasks::prelude::*;

mod tokio {
    pub fn spawn<F: Future + Send>(_: F) {}
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    tokio::spawn(async { ask_user::<bool>("Sure?").await.is_ok() });
    Ok(service)
}

fn main() {}
