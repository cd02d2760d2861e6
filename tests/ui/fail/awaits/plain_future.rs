//! A plain future would run again after a restart.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = plan(&service).await;
    Ok(service)
}

fn main() {}
