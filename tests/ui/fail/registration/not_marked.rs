//! A task function is marked.
use mcp_tasks::runtime::Runtime;

async fn deploy(service: String) -> String {
    service
}

fn main() {
    let _ = Runtime::builder("deployer", "1").task(deploy);
}
