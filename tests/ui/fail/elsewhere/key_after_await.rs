//! What is said of a question comes before its end.
use mcp_tasks::prelude::*;

async fn plan(service: &str) -> std::io::Result<String> {
    Ok(service.to_owned())
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let sure: bool = ask_user("Sure?").await.timeout(Duration::from_secs(3))?;
    let plan = step(plan(&service)).await.key("plan")?;
    Ok(format!("{sure} {plan}"))
}

fn main() {}
