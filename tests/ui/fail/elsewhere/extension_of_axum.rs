//! What a server has is state.
use mcp_tasks::prelude::*;

struct Extension<T>(T);

#[mcp_task]
async fn deploy(Extension(fleet): Extension<String>) -> String {
    fleet
}

fn main() {}
