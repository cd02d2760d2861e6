//! Nor is a struct that can be asked for by itself.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Address {
    street: String,
}

#[derive(Elicit)]
struct Order {
    item: String,
    address: Address,
}

fn main() {}
