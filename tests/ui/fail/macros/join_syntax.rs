//! A branch is an expression.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _: () = join!(left = ask_user::<bool>("Sure?"); right);
    Ok(service)
}

fn main() {}
