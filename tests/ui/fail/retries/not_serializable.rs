//! A result is recorded.
use mcp_tasks::prelude::*;

struct Handle;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step_with(Retry::attempts(3), || async {
        Ok::<_, std::fmt::Error>(Handle)
    })
    .await?;
    Ok(service)
}

fn main() {}
