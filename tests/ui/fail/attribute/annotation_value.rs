use mcp_tasks::prelude::*;

#[mcp_task(annotations(read_only = "yes"))]
async fn deploy() {}

fn main() {}
