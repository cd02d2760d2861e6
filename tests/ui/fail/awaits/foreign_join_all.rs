//! Several steps at once, with the wrong `join_all`.
use mcp_tasks::prelude::*;

mod futures {
    pub async fn join_all<I: IntoIterator>(_: I) {}
}

async fn check(host: u8) -> Result<u8, std::io::Error> {
    Ok(host)
}

#[mcp_task]
async fn deploy() -> Result<String, ToolError> {
    futures::join_all((0..3).map(|host| step(check(host)))).await;
    Ok("done".to_owned())
}

fn main() {}
