//! Unknown key on variant.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Window {
    #[elicit(description = "Tonight")]
    Tonight,
}

fn main() {}
