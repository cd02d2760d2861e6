//! Default of wrong type.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval {
    #[elicit(default = "ten")]
    percent: u8,
}

fn main() {}
