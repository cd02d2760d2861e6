//! A step takes the future itself.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let length = step(|| async { Ok::<_, std::fmt::Error>(service.len()) }).await?;
    Ok(length.to_string())
}

fn main() {}
