//! A branch is replayed like the body.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let (a, b) = join!(
        left: async { plan(&service).await.is_ok() },
        right: ask_user::<bool>("Sure?"),
    );
    let _ = (a, b);
    Ok(service)
}

fn main() {}
