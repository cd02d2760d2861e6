//! Empty enum.

use mcp_tasks::Elicit;

#[derive(Elicit)]
enum Never {}

fn main() {}
