//! A default that is longer than its field.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    #[elicit(max_len = 3, default = "four")]
    word: String,
}

fn main() {}
