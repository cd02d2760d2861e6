//! What a step evaluates cannot leave the function.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(plan(if service.is_empty() {
        return Ok(String::new());
    } else {
        "x"
    }))
    .await?;
    Ok(service)
}

fn main() {}
