//! `FromSchema` around a type without a schema.

use mcp_tasks::elicit::FromSchema;
use mcp_tasks::prelude::*;

struct Settings;

#[mcp_task]
async fn deploy() -> Result<(), ToolError> {
    let _settings = ask_user::<FromSchema<Settings>>("Which settings?").await?;
    Ok(())
}

fn main() {}
