//! Variant with data.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Window {
    Tonight,
    At(String),
}

fn main() {}
