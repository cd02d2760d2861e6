//! Range on enum.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Window {
    Tonight,
}

#[derive(Elicit)]
struct Approval {
    #[elicit(min = 1)]
    window: Window,
}

fn main() {}
