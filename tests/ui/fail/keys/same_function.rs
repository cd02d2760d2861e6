//! Two steps of one function need names.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(plan(&service)).await?;
    step(plan("all")).await?;
    Ok(service)
}

fn main() {}
