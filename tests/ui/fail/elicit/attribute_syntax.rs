//! Attribute syntax.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(min = 1; max = 2)]
    percent: u8,
}

fn main() {}
