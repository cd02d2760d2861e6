use mcp_tasks::prelude::*;

#[mcp_task(icons = ["/static/a.png"])]
async fn deploy() {}

fn main() {}
