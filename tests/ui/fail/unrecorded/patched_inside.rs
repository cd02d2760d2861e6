//! What runs again decides nothing.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    unrecorded(async {
        if patched("new") {
            std::future::ready(()).await;
        }
    })
    .await;
    Ok(service)
}

fn main() {}
