//! An explicit key may be a derived one.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(plan(&service)).await?;
    let sure: bool = ask_user("Sure?").key("plan").await?;
    let _ = (plan, sure);
    Ok(service)
}

fn main() {}
