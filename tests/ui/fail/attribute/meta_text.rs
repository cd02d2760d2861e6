use mcp_tasks::prelude::*;

#[mcp_task(meta = "gold")]
async fn deploy() {}

fn main() {}
