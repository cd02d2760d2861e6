use mcp_tasks::prelude::*;

#[mcp_task(annotations(read_only_hint = true))]
async fn deploy() {}

fn main() {}
