//! Asking a person to open a URL.

use super::super::NotInTask;
use super::Ask;
use super::question::{Question, UrlParams, of_another_kind};
use crate::task::Response;

/// Asks a person to open a URL: to sign in somewhere, to pay, to enter a secret
/// that must not pass through the client.
///
/// While it waits, the task is `input_required`. The answer says whether the
/// person **agreed to open it**, and no more: what came of it is known to
/// whoever serves the page, and reaches the function by a
/// [`signal`](crate::signal).
///
/// The key is the name of the variable that the answer is bound to, else `url`.
///
/// ```
/// use mcp_tasks::prelude::*;
///
/// /// Connects the account of whoever asks.
/// #[mcp_task]
/// async fn connect() -> Result<String, ToolError> {
///     let url = format!("https://example.org/connect/{}", task_id());
///     ask_user_url("Please sign in, so that reports can be sent.", url).await?;
///     // `tasks.signal(id, "connected", name)` in the page that is opened last.
///     let name: String = signal("connected").await?;
///     Ok(format!("connected to {name}"))
/// }
///
/// # use mcp_tasks::testing::TestTask;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let task = TestTask::start(connect()).await;
/// task.agree("url").await;
/// task.signal("connected", "Ada").await;
/// assert_eq!(task.result().await.text(), "connected to Ada");
/// # }
/// ```
///
/// The URL must carry no secret and no sign-in of its own, and the page must
/// make sure that whoever opens it is the [`Caller`](crate::Caller): a client
/// can pass a URL on to somebody else. Without authentication the task's id is such
/// a secret: put a ticket of your own into the URL then, as the example `oauth-url`
/// does.
///
/// # Errors
///
/// [`AskError`](crate::AskError): declined, dismissed, not answered within
/// [`timeout`](Ask::timeout), or not supported by the client, which is asked
/// only if it declared `elicitation.url`. A URL that is none ends the task.
///
/// # Durability, cancellation
///
/// As with [`ask_user`](crate::ask_user).
pub fn ask_user_url(message: impl Into<String>, url: impl Into<String>) -> Ask<Consent, NotInTask> {
    let params = UrlParams::new(message.into(), url.into());
    Ask::new(Question::Url(Box::new(params)), |response| match response {
        Response::Elicited(_) => Ok(Consent(())),
        _ => Err(of_another_kind()),
    })
}

/// A person has agreed to open a URL: see [`ask_user_url`].
///
/// It does not say that the page was opened, nor what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consent(());
