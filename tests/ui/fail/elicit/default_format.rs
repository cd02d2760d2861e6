//! Defaults that are no such thing.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Contact {
    #[elicit(format = "email", default = "nobody")]
    address: String,
    #[elicit(format = "date", default = "2026-02-30")]
    day: String,
    #[elicit(format = "date-time", default = "2026-07-28")]
    moment: Option<String>,
    #[elicit(default = "example.org", format = "uri")]
    link: String,
}

fn main() {}
