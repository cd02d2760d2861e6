use mcp_tasks::prelude::*;

#[mcp_task(ttl = 24h)]
async fn deploy() -> Result<String, ToolError> {
    Ok("done".to_owned())
}

fn main() {}
