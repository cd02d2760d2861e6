//! Joins of this crate are replayed.
use mcp_tasks::prelude::*;

mod tokio {
    macro_rules! join {
        ($($tokens:tt)*) => {};
    }
    pub(crate) use join;
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    tokio::join!(ask_user::<bool>("Sure?"), sleep(Duration::from_secs(1)));
    Ok(service)
}

fn main() {}
