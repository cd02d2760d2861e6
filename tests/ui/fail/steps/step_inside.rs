//! A step is recorded as a whole.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(async { step(plan(&service)).await.map_err(|_| std::fmt::Error) }).await?;
    Ok(service)
}

fn main() {}
