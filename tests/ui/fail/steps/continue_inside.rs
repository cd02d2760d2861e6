//! What a step evaluates cannot leave a loop.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    for name in ["a", ""] {
        step(plan(if name.is_empty() { continue } else { name })).await?;
    }
    Ok(service)
}

fn main() {}
