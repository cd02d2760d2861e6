//! A character is a text.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    initial: char,
}

fn main() {}
