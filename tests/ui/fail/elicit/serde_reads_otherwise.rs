//! What serde reads is not what the form asks for.

use mcp_tasks::Elicit;
use serde::Deserialize;

#[derive(Elicit, Deserialize)]
struct Poll {
    #[serde(deserialize_with = "from_text")]
    count: u8,
}

fn from_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    let text = String::deserialize(from)?;
    Ok(text.len() as u8)
}

#[derive(Elicit, Deserialize)]
#[serde(tag = "kind")]
enum Colour {
    Red,
}

fn main() {}
