//! A question has a time limit of its own.
use mcp_tasks::prelude::*;

mod tokio {
    pub mod time {
        pub async fn timeout<F: IntoFuture>(
            _: std::time::Duration,
            future: F,
        ) -> Result<F::Output, std::io::Error> {
            Ok(future.await)
        }
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = tokio::time::timeout(Duration::from_secs(3), ask_user("Sure?")).await??;
    Ok(format!("{service} {sure}"))
}

fn main() {}
