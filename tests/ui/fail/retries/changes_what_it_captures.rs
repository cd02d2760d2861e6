//! An attempt leaves no traces in the function.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let mut log = String::new();
    let length = step_with(Retry::attempts(3), || async {
        log.push_str(&service);
        Ok::<_, std::fmt::Error>(log.len())
    })
    .await?;
    Ok(length.to_string())
}

fn main() {}
