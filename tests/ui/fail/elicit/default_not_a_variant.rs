//! Default not a variant.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Window {
    Tonight,
}

#[derive(Elicit)]
struct Approval {
    #[elicit(default = Whenever)]
    window: Window,
}

fn main() {}
