//! What takes effect at once is not awaited.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    set_status("begun").await;
    report_progress(1, 2).await;
    Ok(service)
}

fn main() {}
