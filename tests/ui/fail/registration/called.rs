//! A task function is registered by its name.
use mcp_tasks::prelude::*;
use mcp_tasks::runtime::Runtime;

#[mcp_task]
async fn deploy(service: String) -> String {
    service
}

fn main() {
    let _ = Runtime::builder("deployer", "1").task(deploy("web".to_owned()));
}
