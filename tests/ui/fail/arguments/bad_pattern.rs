use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(pattern = "^(?=x)[a-z")] service: String) -> String {
    service
}

fn main() {}
