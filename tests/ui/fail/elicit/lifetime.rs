//! Lifetime.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Answer<'a> {
    value: std::borrow::Cow<'a, str>,
}

fn main() {}
