use mcp_tasks::prelude::*;

#[mcp_task(annotations = true)]
async fn deploy() {}

fn main() {}
