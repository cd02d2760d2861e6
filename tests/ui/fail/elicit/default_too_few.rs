//! A default with fewer choices than must be made.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    #[elicit(min_items = 2, default = [Red])]
    colours: Vec<Colour>,
}

#[derive(Elicit)]
enum Colour {
    Red,
    Blue,
}

fn main() {}
