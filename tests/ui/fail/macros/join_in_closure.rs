//! A task suspends only in its own body.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = || join!(left: ask_user::<bool>("Sure?"), right: sleep(Duration::from_secs(1)));
    Ok(service)
}

fn main() {}
