//! It keeps all tasks of its thread waiting.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    std::thread::sleep(Duration::from_secs(1));
    Ok(service)
}

fn main() {}
