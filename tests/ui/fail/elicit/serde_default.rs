//! What serde lets be missing and the form requires.

use mcp_tasks::Elicit;
use serde::Deserialize;

#[derive(Elicit, Deserialize)]
struct Poll {
    #[serde(default)]
    count: u8,
    #[serde(default)]
    fine: Option<u8>,
    #[serde(default)]
    #[elicit(default = 0)]
    also_fine: u8,
}

#[derive(Elicit, Deserialize, Default)]
#[serde(default)]
struct Whole {
    fine: Option<u8>,
    count: u8,
}

fn main() {}
