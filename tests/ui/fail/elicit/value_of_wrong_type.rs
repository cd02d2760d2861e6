//! Value of wrong type.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(min_len = "three")]
    reason: String,
}

fn main() {}
