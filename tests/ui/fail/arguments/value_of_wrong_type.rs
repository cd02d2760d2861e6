use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(min_len = "3")] service: String) -> String {
    service
}

fn main() {}
