//! A macro may do anything with it.
use mcp_tasks::prelude::*;

macro_rules! within {
    (at $time:expr) => {
        drop($time)
    };
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    within!(at now());
    Ok(service)
}

fn main() {}
