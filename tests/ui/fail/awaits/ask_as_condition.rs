//! A question is no answer.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    if ask_user::<bool>("Sure?") {
        return Ok(service);
    }
    let name = match service.len() {
        1 if !ask_user::<bool>("Short?").key("short") => "short",
        _ => "long",
    };
    Ok(name.to_owned())
}

fn main() {}
