//! A step is recorded as a whole.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step_with(Retry::attempts(3), || async {
        ask_user::<bool>("Sure?").await
    })
    .await?;
    Ok(service)
}

fn main() {}
