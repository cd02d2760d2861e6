//! Each attempt is a future of its own.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step_with(Retry::attempts(3), plan(&service)).await?;
    Ok(service)
}

fn main() {}
