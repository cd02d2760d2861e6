//! Same name variants.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Window {
    Tonight,
    #[elicit(rename = "tonight")]
    Later,
}

fn main() {}
