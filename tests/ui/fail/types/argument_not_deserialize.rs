//! An argument is decoded from JSON.
use mcp_tasks::prelude::*;

struct Service;

#[mcp_task]
async fn deploy(service: Service) -> String {
    let Service = service;
    String::new()
}

fn main() {}
