//! What a function says of itself: nothing here waits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::bind::awaited_only_in_tasks;
use super::{Bind, Bound, DurableFuture, Flow, NotInTask, OutsideOfTask, Site};
use crate::task::{Progress, TaskId, millis};

/// Says what the task is doing, as its `statusMessage`.
///
/// A call that is no task says it to its client at once, as
/// `notifications/progress`, if the client has sent a `progressToken` along.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// /// Packs some parcels.
/// #[mcp_task]
/// async fn pack(parcels: Vec<String>) -> Result<String, ToolError> {
///     let total = parcels.len() as u64;
///     for (done, parcel) in (0..).zip(&parcels) {
///         set_status(format!("packing {parcel}"));
///         report_progress(done, total);
///         step(wrap(parcel)).await?;
///     }
///     Ok(format!("{total} packed"))
/// }
/// # async fn wrap(_: &str) -> std::io::Result<()> { Ok(()) }
/// ```
///
/// May stand in nested closures, `async` blocks and steps too. The last message
/// stays when the task has ended, unless it failed.
///
/// # Durability
///
/// Written with whatever the function does next, else at most every 250 ms; the
/// last message always is. The client of a call that is no task is told at most
/// every 25 ms.
pub fn set_status(message: impl Into<String>) -> SetStatus {
    SetStatus(message.into())
}

/// Says how far the task is: `done` of `total`.
///
/// Shows in `statusMessage` (`3/10 ...`) and in `_meta["rs.mcp-tasks/progress"]`;
/// on a call that is no task, in `notifications/progress`, where the number grows
/// by a thousandth if it has not grown by itself. As durable as [`set_status`].
pub fn report_progress(done: u64, total: u64) -> ReportProgress {
    ReportProgress(Progress { done, total })
}

/// Sets the task's time to live, counted from its creation.
pub fn set_ttl(ttl: Duration) -> SetTtl {
    SetTtl(ttl)
}

/// Lengthens the task's time to live. A task without a limit keeps none.
pub fn extend_ttl(by: Duration) -> ExtendTtl {
    ExtendTtl(by)
}

/// The running task's id.
///
/// On a call that never becomes a task it is an id all the same, different for
/// each call.
pub fn task_id() -> OutsideOfTask<TaskId> {
    OutsideOfTask::new(|flow, _| flow.context().id.clone())
}

/// Waits until the client asks for cancellation.
///
/// Needs `cancel_grace`: without it a cancelled task ends at once.
pub fn cancelled() -> Cancelled<NotInTask> {
    Cancelled(NotInTask::NEW)
}

/// Made by [`set_status`].
#[must_use = "call it inside a function marked `#[mcp_task]`"]
pub struct SetStatus(String);

/// Made by [`report_progress`].
#[must_use = "call it inside a function marked `#[mcp_task]`"]
pub struct ReportProgress(Progress);

/// Made by [`set_ttl`].
#[must_use = "call it inside a function marked `#[mcp_task]`"]
pub struct SetTtl(Duration);

/// Made by [`extend_ttl`].
#[must_use = "call it inside a function marked `#[mcp_task]`"]
pub struct ExtendTtl(Duration);

/// Made by [`cancelled`].
#[must_use = "call it inside a function marked `#[mcp_task]`, and await it"]
pub struct Cancelled<S>(#[allow(dead_code, reason = "says in the type whether it is bound")] S);

awaited_only_in_tasks! {
    <> Cancelled<S> => ();
}

impl Bind<SetStatus> {
    /// Sets the status. Generated code only.
    pub fn bind(self, flow: &Flow, _site: Site) {
        flow.set_message(self.0.0);
    }
}

impl Bind<ReportProgress> {
    /// Reports progress. Generated code only.
    pub fn bind(self, flow: &Flow, _site: Site) {
        flow.set_progress(self.0.0);
    }
}

impl Bind<SetTtl> {
    /// Sets the ttl. Generated code only.
    pub fn bind(self, flow: &Flow, _site: Site) {
        flow.change_ttl(|_| Some(millis(self.0.0)));
    }
}

impl Bind<ExtendTtl> {
    /// Extends the ttl. Generated code only.
    pub fn bind(self, flow: &Flow, _site: Site) {
        flow.change_ttl(|ttl| ttl.map(|ttl| ttl.saturating_add(millis(self.0.0))));
    }
}

impl Bind<Cancelled<NotInTask>> {
    /// Binds to the running task. Generated code only.
    pub fn bind(self, flow: &Flow, _site: Site) -> BoundCancelled {
        BoundCancelled(flow.clone())
    }
}

/// A [`Cancelled`] that is bound to the running task.
#[must_use = "it waits when it is awaited"]
pub struct BoundCancelled(Flow);

impl Future for BoundCancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if self.0.is_cancelled() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[diagnostic::do_not_recommend]
impl DurableFuture for BoundCancelled {
    type Output = ();
    type State = Bound;
    type Future = Self;

    fn into_durable(self) -> Self {
        self
    }
}
