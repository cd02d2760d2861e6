//! The future is awaited inside of the step, as one would with a function.
use mcp_tasks::prelude::*;

async fn plan() -> Result<String, std::io::Error> {
    Ok(String::new())
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let plan = step(plan().await?).await?;
    Ok(plan)
}

fn main() {}
