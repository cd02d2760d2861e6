use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(min_len = 1)] services: Vec<String>) -> String {
    services.concat()
}

fn main() {}
