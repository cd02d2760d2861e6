//! A status belongs to a task.
#![deny(unused_must_use)]
use mcp_tasks::prelude::*;

fn note() {
    set_status("deploying");
}

fn main() {
    note();
}
