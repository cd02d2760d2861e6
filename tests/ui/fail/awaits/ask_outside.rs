//! A question belongs to a task.
use mcp_tasks::prelude::*;

async fn sure() -> bool {
    ask_user::<bool>("Sure?").await.is_ok()
}

fn main() {
    drop(sure());
}
