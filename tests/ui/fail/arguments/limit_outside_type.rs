use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(max = 300)] percent: u8) -> String {
    percent.to_string()
}

fn main() {}
