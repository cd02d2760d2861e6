//! A test drives a task, and is none.
use mcp_tasks::prelude::*;

#[mcp_task]
#[test]
async fn deploys() {
    ask_user::<()>("Sure?").await.ok();
}

fn main() {}
