//! Arguments are parameters; nothing takes them apart.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(Json(order): Json<String>) -> String {
    order
}

fn main() {}
