//! Structured output is written as JSON, under a schema.
use mcp_tasks::prelude::*;

struct Deployed;

#[mcp_task]
async fn deploy(service: String) -> Result<Json<Deployed>, ToolError> {
    drop(service);
    Ok(Json(Deployed))
}

fn main() {}
