//! There is nothing to await in a struct.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
struct Confirm;

fn main() {}
