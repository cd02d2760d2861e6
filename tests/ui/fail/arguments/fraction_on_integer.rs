use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(min = 0.5)] percent: u8) -> String {
    percent.to_string()
}

fn main() {}
