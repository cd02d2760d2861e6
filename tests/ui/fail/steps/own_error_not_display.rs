//! The error of a step is recorded as text.
use mcp_tasks::prelude::*;

struct Broken;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(async { Err::<u8, _>(Broken) }).await?;
    Ok(service)
}

fn main() {}
