//! Same name fields.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(rename = "approve")]
    first: bool,
    approve: bool,
}

fn main() {}
