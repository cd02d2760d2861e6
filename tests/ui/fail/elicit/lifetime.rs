//! Lifetime.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Answer<'a> {
    value: &'a str,
}

fn main() {}
