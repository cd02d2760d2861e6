use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(#[serde(renam = "serviceName")] service: String) -> String {
    service
}

fn main() {}
