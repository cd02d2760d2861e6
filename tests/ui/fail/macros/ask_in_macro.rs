//! A call in a macro cannot be bound.
use mcp_tasks::prelude::*;

macro_rules! twice {
    ($value:expr) => {
        ($value, $value)
    };
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = twice!(ask_user::<bool>("Sure?"));
    Ok(service)
}

fn main() {}
