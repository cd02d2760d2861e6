//! There are no methods here.
use mcp_tasks::prelude::*;


#[mcp_task_impl]
async fn deploy() -> Result<String, ToolError> {
    Ok(String::new())
}

fn main() {}
