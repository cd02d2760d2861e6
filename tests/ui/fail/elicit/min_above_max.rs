//! Min above max.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(min = 100, max = 1)]
    percent: u8,
}

fn main() {}
