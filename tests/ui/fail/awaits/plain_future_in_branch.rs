//! A branch is replayed like the body.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let (a, b) = join!(plan(&service), ask_user::<bool>("Sure?"));
    let _ = (a, b);
    Ok(service)
}

fn main() {}
