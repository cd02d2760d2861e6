//! Branches of one name are one scope.
use mcp_tasks::prelude::*;

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let _ = join!(left: ask_user::<bool>("Sure?"), right: sleep(Duration::from_secs(1)));
    let _ = join!(left: ask_user::<bool>("Really?"), right: async {});
    Ok(service)
}

fn main() {}
