//! Generic.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Answer<T> {
    value: T,
}

fn main() {}
