//! For the tests of those who write task functions.
//!
//! A [`TestTask`] is one task on a server of its own, in the memory of the test.
//! The test plays the client, the clock and the power failure.
//!
//! # Questions and answers
//!
//! A function is called as it was written; a question is found by its key, which
//! is the name of the variable that its answer goes to.
//!
//! ```
//! use mcp_tasks::prelude::*;
//! use mcp_tasks::testing::TestTask;
//! use serde_json::json;
//!
//! #[derive(Elicit)]
//! struct Approval {
//!     approve: bool,
//!     reason: Option<String>,
//! }
//!
//! #[mcp_task]
//! async fn deploy(service: String) -> Result<String, ToolError> {
//!     let approval: Approval = ask_user(format!("Deploy {service}?")).await?;
//!     if !approval.approve {
//!         let reason = approval.reason.unwrap_or_default();
//!         return Err(ToolError::new(format!("not approved: {reason}")));
//!     }
//!     Ok(format!("{service} is out"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let task = TestTask::start(deploy("billing".to_owned())).await;
//! let question = task.asked("approval").await;
//! assert!(question.params.get().contains("Deploy billing?"));
//! task.answer("approval", json!({"approve": false, "reason": "on Monday"})).await;
//! let result = task.result().await;
//! assert!(result.is_error());
//! assert_eq!(result.text(), "not approved: on Monday");
//! # }
//! ```
//!
//! # Time and signals
//!
//! Time is tokio's. In a test that is marked `#[tokio::test(start_paused = true)]`
//! it stands still while anything runs, and jumps to the next timer when
//! everything waits for one.
//!
//! ```
//! use mcp_tasks::prelude::*;
//! use mcp_tasks::testing::TestTask;
//!
//! #[mcp_task(ttl = "7d")]
//! async fn report() -> Result<String, ToolError> {
//!     set_status("waiting for the build");
//!     let build: u32 = signal("build").await?;
//!     set_status("waiting for the night");
//!     sleep(Duration::from_secs(8 * 3600)).await;
//!     Ok(format!("build {build}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # tokio::time::pause();
//! let begun = tokio::time::Instant::now();
//! let task = TestTask::start(report()).await;
//! task.until(|task| task.message.as_deref() == Some("waiting for the build")).await;
//! task.signal("build", 7).await;
//! assert_eq!(task.result().await.text(), "build 7");
//! assert!(begun.elapsed() >= Duration::from_secs(8 * 3600));
//! assert_eq!(task.statuses(), ["waiting for the build", "waiting for the night"]);
//! # }
//! ```
//!
//! # Crashes
//!
//! After [`TestTask::crash`] another server takes up what the first has left
//! behind: the function is run again from the top, and goes on where it was.
//!
//! ```
//! use mcp_tasks::prelude::*;
//! use mcp_tasks::testing::TestTask;
//! use serde_json::json;
//! # async fn charge(_: u32) -> std::io::Result<u64> { Ok(1) }
//!
//! #[mcp_task]
//! async fn pay(cents: u32) -> Result<String, ToolError> {
//!     let receipt = step(charge(cents)).await?;
//!     let address: String = ask_user("Where shall the receipt go?").await?;
//!     Ok(format!("receipt {receipt} to {address}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mut task = TestTask::start(pay(500)).await;
//! task.asked("address").await;
//! task.crash().await;
//! task.answer("address", json!({"answer": "ada@example.com"})).await;
//! task.crash().await;
//! assert_eq!(task.result().await.text(), "receipt 1 to ada@example.com");
//! assert_eq!(task.steps(), ["receipt"], "the card was charged once");
//! # }
//! ```
//!
//! [`crash_everywhere`] plays a scenario again and again, and crashes the server
//! after another commit each time: the outcome must stay the same.
//!
//! ```
//! # use mcp_tasks::prelude::*;
//! # use serde_json::json;
//! # async fn charge(_: u32) -> std::io::Result<u64> { Ok(1) }
//! # #[mcp_task]
//! # async fn pay(cents: u32) -> Result<String, ToolError> {
//! #     let receipt = step(charge(cents)).await?;
//! #     let address: String = ask_user("Where shall the receipt go?").await?;
//! #     Ok(format!("receipt {receipt} to {address}"))
//! # }
//! use mcp_tasks::testing::{TestTask, crash_everywhere};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let text = crash_everywhere(async |crash| {
//!     let task = TestTask::start(pay(500)).crash_after(crash).await;
//!     task.answer("address", json!({"answer": "ada@example.com"})).await;
//!     task.result().await.text()
//! })
//! .await;
//! assert_eq!(text, "receipt 1 to ada@example.com");
//! # }
//! ```

mod crash;
mod observed;
mod result;
mod server;
mod task;

pub use crash::{CrashPoint, crash_everywhere};
pub use result::TestResult;
pub use task::{StartTask, TestTask};

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
