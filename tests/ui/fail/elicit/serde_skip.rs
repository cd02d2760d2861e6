//! What is not read is not asked for.

use mcp_tasks::Elicit;
use serde::Deserialize;

#[derive(Elicit, Deserialize)]
struct Poll {
    word: String,
    #[serde(skip)]
    count: u8,
    colour: Colour,
}

#[derive(Elicit, Deserialize)]
enum Colour {
    Red,
    #[serde(skip_deserializing)]
    Blue,
}

fn main() {}
