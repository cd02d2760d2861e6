//! Union.

use mcp_tasks::Elicit;

#[derive(Elicit)]
union Either {
    yes: u8,
    no: u16,
}

fn main() {}
