use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(
    #[arg(default = 10)]
    #[serde(default)]
    percent: u8,
) -> String {
    percent.to_string()
}

fn main() {}
