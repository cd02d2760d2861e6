//! It is the whole call that becomes a task.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let (sure, ()) = join!(
        sure: ask_user::<bool>(format!("Deploy {service}?")),
        started: async { start_task().await },
    );
    sure?;
    Ok(service)
}

fn main() {}
