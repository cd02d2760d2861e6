//! Words that say nothing.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    #[elicit(title = "", description = " ")]
    word: String,
    colour: Colour,
}

#[derive(Elicit)]
enum Colour {
    #[elicit(title = "")]
    Red,
}

fn main() {}
