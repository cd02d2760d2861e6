//! A name that serde was told twice.

use mcp_tasks::Elicit;
use serde::Serialize;

#[derive(Elicit, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum Colour {
    Red,
    #[serde(rename = "RED")]
    Scarlet,
}

fn main() {}
