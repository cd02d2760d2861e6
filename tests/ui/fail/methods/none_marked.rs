//! Nothing would be registered.
use mcp_tasks::prelude::*;

struct Deployer;

#[mcp_task_impl]
impl Deployer {
    fn plan(&self) -> u8 {
        1
    }
}

fn main() {}
