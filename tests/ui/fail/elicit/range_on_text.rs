//! Range on text.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(max = 80)]
    reason: String,
}

fn main() {}
