//! An argument moves to the thread that runs the task.
use mcp_tasks::prelude::*;

#[derive(Clone)]
struct Fleet(std::rc::Rc<u8>);

#[mcp_task]
async fn deploy(State(fleet): State<Fleet>) -> String {
    fleet.0.to_string()
}

fn main() {}
