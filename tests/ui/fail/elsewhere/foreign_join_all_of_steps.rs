//! Nor do they know its steps.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

mod futures {
    pub mod future {
        pub async fn join_all<F: Future>(all: impl IntoIterator<Item = F>) -> Vec<F::Output> {
            let mut outputs = Vec::new();
            for one in all {
                outputs.push(one.await);
            }
            outputs
        }
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plans = futures::future::join_all(["a", "b"].map(|host| step(plan(host)))).await;
    Ok(format!("{service} {plans:?}"))
}

fn main() {}
