//! An argument is described to clients.
use mcp_tasks::prelude::*;

#[derive(serde::Deserialize)]
struct Service {
    name: String,
}

#[mcp_task]
async fn deploy(service: Service, count: u32) -> String {
    format!("{} {count}", service.name)
}

fn main() {}
