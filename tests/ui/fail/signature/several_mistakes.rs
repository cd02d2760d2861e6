//! All mistakes are shown at once.
use mcp_tasks::prelude::*;

#[mcp_task(tll = "24h", poll_interval = "0s")]
fn deploy(service: &str, (a, b): (u8, u8)) -> String {
    let _ = (a, b);
    service.to_owned()
}

fn main() {}
