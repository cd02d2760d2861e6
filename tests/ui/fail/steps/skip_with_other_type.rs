//! What is skipped gives the step's own type.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> Result<String, std::fmt::Error> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    step(plan(&service))
        .at_most_once(OnAmbiguous::Skip(3))
        .await?;
    Ok(service)
}

fn main() {}
