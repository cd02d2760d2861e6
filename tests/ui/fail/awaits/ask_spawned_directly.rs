//! What is spawned is not the task.
use mcp_tasks::prelude::*;

mod tokio {
    pub fn spawn<F>(_: F) {}
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    tokio::spawn(ask_user::<bool>("Sure?"));
    Ok(service)
}

fn main() {}
