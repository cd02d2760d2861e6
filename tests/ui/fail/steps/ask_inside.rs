//! A step is recorded as a whole.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(async {
        let sure: bool = ask_user("Sure?").await.map_err(|_| std::fmt::Error)?;
        plan(if sure { &service } else { "none" }).await
    })
    .await?;
    Ok(service)
}

fn main() {}
