//! Other libraries know nothing of a task.
use mcp_tasks::prelude::*;

mod futures {
    pub mod future {
        pub async fn join<A: Future, B: Future>(left: A, right: B) -> (A::Output, B::Output) {
            (left.await, right.await)
        }
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let (left, right) = futures::future::join(
        ask_user::<bool>("Left?").key("left"),
        ask_user::<bool>("Right?").key("right"),
    )
    .await;
    Ok(format!("{service} {left:?} {right:?}"))
}

fn main() {}
