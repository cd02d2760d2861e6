//! That nobody knows is no error of one's own.
use mcp_tasks::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}

async fn plan(service: &str) -> Result<String, Refused> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let plan = step(plan(&service))
        .typed()
        .at_most_once(OnAmbiguous::Fail)
        .await;
    Ok(plan.unwrap_or_default())
}

fn main() {}
