//! A field is filled in or empty.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    word: Option<Option<String>>,
    colours: Vec<Option<Colour>>,
}

#[derive(Elicit)]
enum Colour {
    Red,
}

fn main() {}
