//! What a step evaluates cannot leave a loop.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    loop {
        step(plan(if service.is_empty() { break } else { "x" })).await?;
        if service.len() > 1 {
            break;
        }
    }
    Ok(service)
}

fn main() {}
