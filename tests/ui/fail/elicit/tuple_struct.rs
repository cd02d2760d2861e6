//! The fields of a form have names.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Approval(bool, String);

fn main() {}
