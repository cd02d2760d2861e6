//! Unknown format.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(format = "mail")]
    notify: String,
}

fn main() {}
