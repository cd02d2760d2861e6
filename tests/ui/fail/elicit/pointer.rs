//! A field holds its value itself.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    word: Box<String>,
    shared: Option<std::sync::Arc<u8>>,
}

fn main() {}
