//! Format on bool.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(format = "email")]
    approve: bool,
}

fn main() {}
