use mcp_tasks::prelude::*;

#[mcp_task(icons = [7])]
async fn deploy() {}

fn main() {}
