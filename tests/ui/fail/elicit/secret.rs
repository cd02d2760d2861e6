//! Secret.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Login {
    user: String,
    api_key: String,
}

fn main() {}
