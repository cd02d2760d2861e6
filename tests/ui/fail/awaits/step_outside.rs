//! A step belongs to a task.
use mcp_tasks::prelude::*;

async fn wait() {
    step_value(async { 1 }).await;
    sleep(Duration::from_secs(1)).await;
}

fn main() {
    drop(wait());
}
