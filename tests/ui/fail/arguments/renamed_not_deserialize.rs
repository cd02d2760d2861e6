//! A name of its own makes no difference.
use mcp_tasks::prelude::*;

struct Service;

#[mcp_task]
async fn deploy(#[serde(rename = "serviceName")] service: Service) -> String {
    let Service = service;
    String::new()
}

fn main() {}
