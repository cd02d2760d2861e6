//! Two names that a spelling makes one.

use mcp_tasks::Elicit;

#[derive(Elicit)]
#[elicit(rename_all = "camelCase")]
struct Poll {
    first_word: String,
    #[elicit(rename = "firstWord")]
    other: String,
}

fn main() {}
