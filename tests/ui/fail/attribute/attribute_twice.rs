use mcp_tasks::prelude::*;

#[mcp_task]
#[mcp_task(ttl = "1h")]
async fn deploy() -> Result<String, ToolError> {
    Ok("done".to_owned())
}

fn main() {}
