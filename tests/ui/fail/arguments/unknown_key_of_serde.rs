use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[arg(rename = "serviceName")] service: String) -> String {
    service
}

fn main() {}
