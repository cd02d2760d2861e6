//! Without one near, the keys are listed.
use mcp_tasks::prelude::*;

#[mcp_task(colour = "red")]
async fn deploy(service: String) -> String {
    service
}

fn main() {}
