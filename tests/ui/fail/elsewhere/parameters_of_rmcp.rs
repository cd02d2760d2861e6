//! What rmcp takes in one struct.
use mcp_tasks::prelude::*;

struct Parameters<T>(T);

#[mcp_task]
async fn deploy(Parameters(service): Parameters<String>) -> String {
    service
}

fn main() {}
