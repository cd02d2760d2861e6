use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(pattern = "^[a-z]+$", default = "Main")] branch: String) -> String {
    branch
}

fn main() {}
