//! List of structs.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Item {
    name: String,
}

#[derive(Elicit)]
struct Order {
    items: Vec<Item>,
}

fn main() {}
