//! A value that is held across a suspension can move between threads.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let shared = std::rc::Rc::new(1);
    let sure: bool = ask_user("Sure?").await?;
    let _ = (sure, shared);
    Ok(service)
}

fn main() {}
