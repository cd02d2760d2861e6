//! What a step tells the outside world it is.

use crate::flow::OutsideOfTask;
use crate::flow::request::Request;

/// The idempotency key of the step around it: the same whenever the step runs,
/// and no other step's.
///
/// For services that take such a key and do nothing twice for it: with it, a
/// step that runs again after a crash has no second effect. It may stand
/// anywhere inside the argument of a step, and nowhere else. What the argument
/// spawns cannot call it, and takes it along.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// async fn charge(cents: u32, idempotency_key: String) -> std::io::Result<u64> {
///     # let _ = (cents, idempotency_key); Ok(1)
/// }
///
/// #[mcp_task]
/// async fn pay(cents: u32) -> Result<String, ToolError> {
///     let receipt = step(charge(cents, step_key())).await?;
///     Ok(format!("receipt {receipt}"))
/// }
/// ```
pub fn step_key() -> OutsideOfTask<String> {
    OutsideOfTask::new(|flow, _| {
        let Some(key) = flow.current_step() else {
            // A function of the user's own that is called like a step.
            flow.request(Request::Misuse(
                "`step_key()` was called where no step runs".to_owned(),
            ));
            return String::new();
        };
        format!("{}/{key}", flow.context().id)
    })
}
