//! A task function is a function.
use mcp_tasks::runtime::Runtime;

fn main() {
    let _ = Runtime::builder("deployer", "1").task(|| async { "done" });
}
