use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(min = 1)] service: String) -> String {
    service
}

fn main() {}
