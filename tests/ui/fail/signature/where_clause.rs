//! There is nothing to bound.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> String
where
    String: Clone,
{
    service
}

fn main() {}
