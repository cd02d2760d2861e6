//! What is being typed is one error of rustc's.
use mcp_tasks::prelude::*;

#[derive(Clone)]
struct Fleet {
    name: String,
}

#[mcp_task]
async fn deploy(State(fleet): State<Fleet>) -> Result<String, ToolError> {
    let sure: bool = ask_user("Sure?").await?;
    fleet.
}

fn serve() {
    let _ = mcp_tasks::runtime::Runtime::builder("deployer", "1").task(deploy);
}

fn main() {}
