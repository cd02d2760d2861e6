//! A form is flat.

use mcp_tasks::Elicit;
use serde::Deserialize;

#[derive(Elicit, Deserialize)]
struct Poll {
    word: String,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Deserialize)]
struct Rest {
    other: String,
}

fn main() {}
