//! Length on number.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(min_len = 1)]
    percent: u8,
}

fn main() {}
