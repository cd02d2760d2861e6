//! `?` awaits nothing.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn survey() -> Result<String, ToolError> {
    let folders = list_roots()?;
    Ok(format!("{} folders", folders.len()))
}

fn main() {}
