//! For the tests of those who write task functions.

mod task;

pub use task::{TestResult, TestTask};

use crate::runtime::{Mismatch, Runtime, check};
use crate::task::Journal;

/// Runs today's code through a saved journal, and says whether it fits.
///
/// What [`Tasks::journal`](crate::Tasks::journal) gave of a task under way, kept in a file, shows in
/// CI whether a deploy would hold tasks like it. The function runs up to the
/// point where the journal ends; no step is started, and nothing is recorded.
///
/// ```
/// use mcp_tasks::prelude::*;
/// use mcp_tasks::runtime::Runtime;
/// use mcp_tasks::testing;
///
/// #[mcp_task]
/// async fn greet() -> Result<String, ToolError> {
///     let name: String = ask_user("What is your name?").await?;
///     Ok(format!("Hello, {name}!"))
/// }
///
/// # async fn check() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Runtime::builder("greeter", "1.0.0").task(greet).build()?;
/// let journal = std::fs::read_to_string("tests/journals/greet-waiting.jsonl")?.parse()?;
/// testing::replay(&server, &journal).await?;
/// # Ok(()) }
/// ```
///
/// A server that is built as a `TaskServer` has its runtime as
/// `BuiltServer::runtime`.
///
/// # Errors
///
/// [`Mismatch`] if the code does not fit: in its words, what was recorded and
/// by which version, what the code does now and where, why that usually
/// happens, and what to do.
pub async fn replay(server: &Runtime, journal: &Journal) -> Result<(), Mismatch> {
    check(server, journal).await
}
