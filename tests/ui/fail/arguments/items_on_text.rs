use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(max_items = 3)] service: Option<String>) -> String {
    service.unwrap_or_default()
}

fn main() {}
