//! What a step evaluates cannot leave the function.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(plan(
        service.strip_prefix("x").ok_or(ToolError::new("no x"))?,
    ))
    .await?;
    Ok(service)
}

fn main() {}
