//! The attribute does not see what a macro makes.
use mcp_tasks::prelude::*;

macro_rules! sure {
    () => {
        ask_user::<bool>("Sure?").await?
    };
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure = sure!();
    Ok(format!("{service} {sure}"))
}

fn main() {}
