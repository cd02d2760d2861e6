use mcp_tasks::prelude::*;

#[mcp_task(annotations(readonly))]
async fn deploy() {}

fn main() {}
