//! Each call gets a clone of the state.
use mcp_tasks::prelude::*;

struct Fleet;

#[mcp_task]
async fn deploy(State(fleet): State<Fleet>) -> String {
    drop(fleet);
    String::new()
}

fn main() {}
