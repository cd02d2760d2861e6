//! Names that only the attribute sees count as used.
#![deny(warnings)]
use mcp_tasks::{
    Json, State, ToolError, ask_user, join, mcp_task, mcp_task_flow, mcp_task_impl,
};

/// Its marks are gone once it is expanded, and so is the macro.
pub struct Deployer;

#[mcp_task_impl]
impl Deployer {
    #[mcp_task]
    pub async fn deploy(&self, State(copies): State<u8>) -> Result<Json<u8>, ToolError> {
        let (sure,) = join!(sure: ask_user::<bool>("Sure?"));
        self.log(sure?).await;
        Ok(Json(copies))
    }

    #[mcp_task_flow]
    async fn log(&self, sure: bool) {
        let _ = sure;
    }
}
