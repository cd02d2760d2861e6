//! Several choices are a `Vec`.

use mcp_tasks::Elicit;

use std::collections::BTreeSet;

#[derive(Elicit)]
struct Poll {
    colours: BTreeSet<Colour>,
    more: Option<std::collections::HashSet<Colour>>,
}

#[derive(Elicit, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Colour {
    Red,
}

fn main() {}
