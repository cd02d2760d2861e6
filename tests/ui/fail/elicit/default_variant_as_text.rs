//! Default variant as text.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Window {
    Tonight,
}

#[derive(Elicit)]
struct Approval {
    #[elicit(default = "tonight")]
    window: Window,
}

fn main() {}
