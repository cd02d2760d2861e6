//! A step may run in one version and be replayed in the next.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(async {
        if patched("new") {
            plan(&service).await
        } else {
            Ok(service.clone())
        }
    })
    .await?;
    Ok(service)
}

fn main() {}
