//! Default out of range.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(min = 1, max = 100, default = 0)]
    percent: u8,
}

fn main() {}
