use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(default)] State(name): State<String>) -> String {
    name
}

fn main() {}
