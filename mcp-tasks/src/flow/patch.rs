//! Changes of the code that tasks under way must not see.

use super::OutsideOfTask;

/// Whether this task takes the new side of a change of the code: true for tasks
/// that had not come so far when the change was deployed, and so for all new
/// ones.
///
/// The first call of an id in a run decides, and later calls repeat it. It is
/// true if that is recorded, or if the function has by then asked for all that
/// is recorded, which means that the task has never been here before. The
/// decision is recorded with what the task does next.
///
/// Once no task from before the change is left, the old side and the call can
/// go.
///
/// ```
/// use mcp_tasks::prelude::*;
/// # async fn check(_: &str) -> std::io::Result<()> { Ok(()) }
/// # async fn roll_out(_: &str) -> std::io::Result<()> { Ok(()) }
///
/// #[mcp_task]
/// async fn deploy(service: String) -> Result<String, ToolError> {
///     ask_user::<()>(format!("Deploy {service}?")).await?;
///     if patched("check-first") {
///         step(check(&service)).await?;
///     }
///     step(roll_out(&service)).await?;
///     Ok(format!("{service} is out"))
/// }
/// ```
pub fn patched(id: impl Into<String>) -> OutsideOfTask<bool> {
    let id = id.into();
    OutsideOfTask::new(move |flow, _| flow.patched(&id))
}
