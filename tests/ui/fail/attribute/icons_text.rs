use mcp_tasks::prelude::*;

#[mcp_task(icons = "https://example.com/a.png")]
async fn deploy() {}

fn main() {}
