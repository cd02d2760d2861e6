//! Where a call becomes a task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::bind::awaited_only_in_tasks;
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, Site};

/// Makes a task of the call from here on; what was asked before is settled
/// while the client still waits for the reply to its call (P63).
///
/// A tool that does not call it is a task from the beginning. With it, a client
/// that declares the Tasks extension is asked what comes before in rounds of
/// `tools/call`, and then gets the task. A function that returns before it gets
/// there gives a plain result. For clients without tasks it does nothing.
///
/// ```
/// use mcp_tasks::prelude::*;
/// # async fn roll_out(_: &str) -> std::io::Result<()> { Ok(()) }
///
/// #[mcp_task]
/// async fn deploy(service: String) -> Result<String, ToolError> {
///     let sure: bool = ask_user(format!("Deploy {service} now?")).await?;
///     if !sure {
///         return Ok("not deployed".into()); // no task for that
///     }
///     start_task().await;
///     step(roll_out(&service)).await?;
///     Ok(format!("{service} is out"))
/// }
/// ```
///
/// # Durability
///
/// When it resolves, the task is in the store, with all that happened before.
/// Its time to live counts from the first call.
///
/// # Errors
///
/// None here: if the task cannot be created, the call ends with the error, and
/// the function is dropped.
pub fn start_task() -> StartTask<NotInTask> {
    StartTask(NotInTask::NEW)
}

/// Made by [`start_task`].
#[must_use = "call it inside a function marked `#[mcp_task]`, and await it"]
pub struct StartTask<S>(#[allow(dead_code, reason = "says in the type whether it is bound")] S);

awaited_only_in_tasks! {
    <> StartTask<S> => ();
}

impl Bind<StartTask<NotInTask>> {
    /// Binds it to the running call. Generated code only.
    pub fn bind(self, flow: &Flow, _site: Site) -> BoundStartTask {
        BoundStartTask(flow.clone())
    }
}

/// A [`StartTask`] in its call.
#[must_use = "await it"]
pub struct BoundStartTask(Flow);

impl Future for BoundStartTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if self.0.start_task() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[diagnostic::do_not_recommend]
impl DurableFuture for BoundStartTask {
    type Output = ();
    type State = Bound;
    type Future = Self;

    fn into_durable(self) -> Self {
        self
    }
}
