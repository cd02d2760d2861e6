//! A form has no name.

use mcp_tasks::Elicit;

#[derive(Elicit)]
#[elicit(rename = "poll")]
struct Poll {
    word: String,
}

fn main() {}
