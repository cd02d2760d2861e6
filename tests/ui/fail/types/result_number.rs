//! A result is text, content or `Json`.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn count(text: String) -> usize {
    text.len()
}

fn main() {}
