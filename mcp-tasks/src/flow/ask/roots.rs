//! Asking where the client works.

use std::future::IntoFuture;
use std::time::Duration;

use super::super::bind::{Awaited, InTask, Keyed, awaited_only_in_tasks};
use super::super::{AskError, Bind, Bound, DurableFuture, Flow, NotInTask, Site, Unawaited};
use super::question::{Question, of_another_kind};
use super::{Ask, Asking};
use crate::protocol::Root;
use crate::task::Response;

/// Asks the client for its roots: the folders and files that it works in.
///
/// The key is the name of the variable that the list is bound to, else `roots`.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// /// Says what it would look at.
/// #[mcp_task]
/// async fn survey() -> Result<String, ToolError> {
///     let folders = list_roots().await?;
///     Ok(format!("{} folders", folders.len()))
/// }
///
/// # use mcp_tasks::testing::TestTask;
/// # use mcp_tasks::Root;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let task = TestTask::start(survey()).await;
/// task.answer_with_roots("folders", [Root::new("file:///src").named("sources")]).await;
/// assert_eq!(task.result().await.text(), "1 folders");
/// # }
/// ```
///
/// Roots are deprecated in MCP 2026-07-28, where they stay for at least a year:
/// new servers do better to take folders as arguments.
///
/// # Errors
///
/// [`AskError`]: not answered within [`timeout`](ListRoots::timeout), or not
/// supported by the client, which is asked only if it declared `roots`.
///
/// # Durability, cancellation
///
/// As with [`ask_user`](crate::ask_user). What was listed once is what the
/// function sees after a restart.
pub fn list_roots() -> ListRoots<NotInTask> {
    ListRoots(Ask::new(Question::Roots, |response| match response {
        Response::Roots { roots } => Ok(roots.clone()),
        _ => Err(of_another_kind()),
    }))
}

/// A question, made by [`list_roots`].
#[must_use = "a question is only asked when it is awaited"]
pub struct ListRoots<S>(Ask<Vec<Root>, S>);

#[allow(
    private_bounds,
    reason = "who can be renamed is the crate's own affair"
)]
impl<S: Keyed> ListRoots<S> {
    /// See [`Ask::key`].
    pub fn key(self, key: impl AsRef<str>) -> Self {
        Self(self.0.key(key))
    }

    /// See [`Ask::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }
}

impl Bind<ListRoots<NotInTask>> {
    /// Binds the question to the running task. Generated code only.
    #[track_caller]
    pub fn bind(self, flow: &Flow, site: Site) -> ListRoots<Bound> {
        let ListRoots(ask) = self.0;
        ListRoots(Bind(ask).bind(flow, site))
    }
}

impl<S> Unawaited<ListRoots<S>> {
    /// Says that the list is not awaited. Generated code only.
    pub fn finished(self) -> Result<Vec<Root>, AskError>
    where
        ListRoots<S>: Awaited,
    {
        unreachable!("no question can be used without being awaited")
    }
}

awaited_only_in_tasks! {
    <> ListRoots<S> => Result<Vec<Root>, AskError>;
}

#[diagnostic::do_not_recommend]
impl IntoFuture for ListRoots<Bound> {
    type Output = Result<Vec<Root>, AskError>;
    type IntoFuture = Asking<Vec<Root>>;

    fn into_future(self) -> Self::IntoFuture {
        self.0.into_future()
    }
}

#[diagnostic::do_not_recommend]
impl<S> DurableFuture for ListRoots<S> {
    type Output = Result<Vec<Root>, AskError>;
    type State = S;
    type Future = Asking<Vec<Root>>;

    fn into_durable(self) -> Self::Future
    where
        S: InTask,
    {
        self.0.into_durable()
    }
}
