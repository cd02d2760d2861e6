//! The keys that seal states are kept for a week.
use mcp_tasks::prelude::*;

#[mcp_task(state_ttl = "30d", once = "no")]
async fn deploy(service: String) -> Result<String, ToolError> {
    ask_user::<()>(format!("Deploy {service}?")).await?;
    Ok(service)
}

fn main() {}
