//! A default of an `Option` is written without it.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Poll {
    #[elicit(default = Some(3))]
    count: Option<u8>,
    #[elicit(default = None)]
    remark: Option<String>,
}

fn main() {}
