use mcp_tasks::prelude::*;

#[mcp_task(read_only = true)]
async fn deploy() {}

fn main() {}
