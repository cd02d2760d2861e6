//! Other frameworks hand a context in.
use mcp_tasks::prelude::*;

struct Context;

#[mcp_task]
async fn deploy(context: Context, service: String) -> Result<String, ToolError> {
    let _ = context;
    Ok(service)
}

fn main() {}
