//! A random value is another on a replay.
use mcp_tasks::prelude::*;

mod rand {
    pub fn random() -> u8 {
        4
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _: u8 = rand::random();
    Ok(service)
}

fn main() {}
