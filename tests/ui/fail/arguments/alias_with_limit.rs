use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(
    #[arg(max = 100)]
    #[serde(alias = "share")]
    percent: u8,
) -> String {
    percent.to_string()
}

fn main() {}
