//! What `join_all` waits for is replayed like the body.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(services: Vec<String>) -> Result<String, ToolError> {
    let plans = join_all(services.iter().map(|service| plan(service))).await;
    Ok(format!("{}", plans.len()))
}

fn main() {}
