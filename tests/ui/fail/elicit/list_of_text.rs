//! List of text.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Order {
    tags: Vec<String>,
}

fn main() {}
