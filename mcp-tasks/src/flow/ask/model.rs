//! Asking the client's model.

use super::super::NotInTask;
use super::Ask;
use super::question::{Question, of_another_kind};
use crate::protocol::{ModelReply, ModelRequest};
use crate::task::Response;

/// Asks the model behind the client (sampling).
///
/// While it waits, the task is `input_required` and shows the request in
/// `inputRequests`. The key is the name of the variable that the reply is bound
/// to, else `model`.
///
/// ```
/// use mcp_tasks::ModelRequest;
/// use mcp_tasks::prelude::*;
///
/// /// Sums up a text in one sentence.
/// #[mcp_task]
/// async fn sum_up(text: String) -> Result<String, ToolError> {
///     let request = ModelRequest::new(200)
///         .system("Answer in one sentence.")
///         .user(format!("Sum up:\n{text}"));
///     let summary = ask_model(request).timeout(Duration::from_secs(300)).await?;
///     Ok(summary.text())
/// }
///
/// # use mcp_tasks::testing::TestTask;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let task = TestTask::start(sum_up("A long story.".to_owned())).await;
/// task.answer_as_model("summary", "It was long.").await;
/// assert_eq!(task.result().await.text(), "It was long.");
/// # }
/// ```
///
/// Sampling is deprecated in MCP 2026-07-28, where it stays for at least a year:
/// new servers do better to call a model by themselves, in a
/// [`step`](crate::step).
///
/// # Errors
///
/// [`AskError`](crate::AskError): `Declined` where the client of an older
/// session says that a person refused, not answered within
/// [`timeout`](Ask::timeout), or not supported by the client, which is asked
/// only if it declared `sampling`. A request that cannot be made ends the task.
///
/// # Durability, cancellation
///
/// As with [`ask_user`](crate::ask_user).
pub fn ask_model(request: ModelRequest) -> Ask<ModelReply, NotInTask> {
    Ask::new(
        Question::Model(Box::new(request)),
        |response| match response {
            Response::Model { message } => Ok(message.clone()),
            _ => Err(of_another_kind()),
        },
    )
}
