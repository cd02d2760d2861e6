//! A join awaits in place.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let (a, b) = join!(ask_user::<bool>("Sure?"), sleep(Duration::from_secs(1))).await;
    let _ = (a, b);
    Ok(service)
}

fn main() {}
