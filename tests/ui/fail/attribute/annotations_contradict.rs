use mcp_tasks::prelude::*;

#[mcp_task(annotations(read_only, destructive))]
async fn deploy() {}

fn main() {}
