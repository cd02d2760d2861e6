//! Empty name.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(rename = "")]
    approve: bool,
}

fn main() {}
