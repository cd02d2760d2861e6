//! How long something takes.
use std::time::Instant;

use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    let begun = Instant::now();
    let sure: bool = ask_user("Sure?").await?;
    Ok(format!("{sure} after {:?}", begun.elapsed()))
}

fn main() {}
