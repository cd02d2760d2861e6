//! An await in a macro cannot be made durable.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

macro_rules! twice {
    ($value:expr) => {
        ($value, $value)
    };
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = twice!(plan(&service).await);
    Ok(service)
}

fn main() {}
