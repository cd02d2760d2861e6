use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(max_lenght = 1)] service: String) -> String {
    service
}

fn main() {}
