//! Unknown key.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(titel = "Ship it?")]
    approve: bool,
}

fn main() {}
