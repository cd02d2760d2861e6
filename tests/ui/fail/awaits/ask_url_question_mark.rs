//! `?` awaits nothing: neither consent nor a model's reply.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn connect(url: String) -> Result<String, ToolError> {
    ask_user_url("Sign in, please.", url)?;
    Ok("connected".to_owned())
}

fn main() {}
