//! Repeated key.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(title = "Ship it?", title = "Really?")]
    approve: bool,
}

fn main() {}
