//! Types are told apart by name: a type of an argument needs another one.
mod own {
    pub struct Meta {
        pub tags: Vec<String>,
    }
}

use mcp_tasks::{ToolError, mcp_task};
use own::Meta;

#[mcp_task]
async fn deploy(meta: Meta) -> Result<String, ToolError> {
    Ok(meta.tags.concat())
}

fn main() {}
