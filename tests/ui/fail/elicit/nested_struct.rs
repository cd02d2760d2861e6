//! A struct is not a field: forms are flat.

use mcp_tasks::Elicit;

struct Address {
    street: String,
}

#[derive(Elicit)]
struct Order {
    item: String,
    address: Address,
}

fn main() {}
