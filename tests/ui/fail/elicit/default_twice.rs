//! A choice is made once.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    #[elicit(default = [Red, Blue, Colour::Red])]
    colours: Vec<Colour>,
}

#[derive(Elicit)]
enum Colour {
    Red,
    Blue,
}

fn main() {}
