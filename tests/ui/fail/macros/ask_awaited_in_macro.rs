//! A call that is hidden, and its await, are one mistake.
use mcp_tasks::prelude::*;

macro_rules! pick {
    ($number:literal => $value:expr) => {
        $value
    };
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure = pick!(3 => ask_user::<bool>("Sure?").key("sure").await?);
    Ok(format!("{service} {sure}"))
}

fn main() {}
