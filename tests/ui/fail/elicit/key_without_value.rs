//! Key without value.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(title)]
    approve: bool,
}

fn main() {}
