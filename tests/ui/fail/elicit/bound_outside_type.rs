//! Bound outside type.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(max = 1000)]
    percent: u8,
}

fn main() {}
