//! The type of an extractor says what is extracted.
use mcp_tasks::prelude::*;

#[derive(Clone, Default)]
struct Fleet;

#[mcp_task]
async fn deploy(State(fleet): Fleet) -> String {
    let _ = fleet;
    String::new()
}

fn main() {}
