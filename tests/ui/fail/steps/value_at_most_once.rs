//! What may not run twice can fail.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let length = step_value(async { service.len() })
        .at_most_once(OnAmbiguous::RunAgain)
        .await;
    Ok(length.to_string())
}

fn main() {}
