//! A random value is another on a replay.
use mcp_tasks::prelude::*;

struct Uuid;

impl Uuid {
    fn new_v4() -> Self {
        Self
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = Uuid::new_v4();
    Ok(service)
}

fn main() {}
