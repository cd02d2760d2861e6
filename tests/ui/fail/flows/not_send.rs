//! What is held across an await must be `Send`.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
async fn confirm() -> Result<bool, AskError> {
    let counter = std::rc::Rc::new(1);
    let sure: bool = ask_user("Sure?").await?;
    Ok(sure && *counter == 1)
}

fn main() {}
