//! A type on the left does not await.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let ok: bool = ask_user::<bool>("Sure?");
    Ok(format!("{service} {ok}"))
}

fn main() {}
