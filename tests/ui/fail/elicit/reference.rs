//! An answer is owned.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    word: &'static str,
    other: Option<&'static str>,
}

fn main() {}
