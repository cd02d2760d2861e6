//! All of them are said at once.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
fn confirm(what: impl Into<String>, #[cfg(unix)] more: u8) -> Result<bool, AskError> {
    ask_user::<bool>("Sure?");
    let now = std::time::SystemTime::now();
    Ok(true)
}

fn main() {}
