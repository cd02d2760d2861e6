//! Spellings that do not exist.

use mcp_tasks::Elicit;

#[derive(Elicit)]
#[elicit(rename_all = "camel_case")]
struct Poll {
    first_word: String,
}

#[derive(Elicit)]
#[elicit(rename_all = 3)]
enum Colour {
    Red,
}

fn main() {}
