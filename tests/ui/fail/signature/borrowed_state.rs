//! State is shared, not lent.
use mcp_tasks::prelude::*;

struct Fleet;

#[mcp_task]
async fn deploy(State(fleet): State<&Fleet>) -> String {
    let _ = fleet;
    String::new()
}

fn main() {}
