//! Unknown key on struct.

use mcp_tasks::Elicit;

#[derive(Elicit)]
#[elicit(title = "Approval")]
struct Approval {
    approve: bool,
}

fn main() {}
