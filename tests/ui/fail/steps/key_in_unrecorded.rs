//! Only a step has such a key.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    unrecorded(plan(&step_key())).await?;
    Ok(service)
}

fn main() {}
