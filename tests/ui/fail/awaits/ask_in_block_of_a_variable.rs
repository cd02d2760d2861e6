//! A block is a branch where it is written only.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let name = async {
        let name: String = ask_user(service).await?;
        Ok::<_, AskError>(name)
    };
    let (name,) = join!(name);
    Ok(name?)
}

fn main() {}
