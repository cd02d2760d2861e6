//! What finishes first is recorded by `race!` only.
use mcp_tasks::prelude::*;

mod tokio {
    macro_rules! select {
        ($($tokens:tt)*) => {};
    }
    pub(crate) use select;
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    tokio::select! {
        _ = ask_user::<bool>("Sure?") => {}
        _ = sleep(Duration::from_secs(1)) => {}
    }
    Ok(service)
}

fn main() {}
