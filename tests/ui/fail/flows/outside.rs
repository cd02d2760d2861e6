//! There is no task here.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm(what: &str) -> Result<bool, AskError> {
    ask_user(what).await
}

async fn helper() -> bool {
    confirm("Sure?").await.is_ok()
}

fn main() {
    drop(helper());
}
