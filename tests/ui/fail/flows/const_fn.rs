//! A body that waits does not run at compile time.
use mcp_tasks::prelude::*;

#[mcp_task_flow]
const fn confirm() -> u8 {
    1
}

fn main() {}
