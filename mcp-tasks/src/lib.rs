//! MCP tools that run for minutes or days and stop to ask a person something,
//! written as plain async functions.
//!
//! ```no_run
//! use mcp_tasks::prelude::*;
//!
//! #[derive(Elicit)]
//! struct Approval {
//!     /// Ship this plan?
//!     approve: bool,
//!     /// Share of traffic in the first hour
//!     #[elicit(min = 1, max = 100, default = 10)]
//!     percent: u8,
//! }
//!
//! /// Deploys a service once a person has signed off.
//! #[mcp_task(ttl = "24h")]
//! async fn deploy(
//!     /// Service to deploy
//!     service: String,
//! ) -> Result<String, ToolError> {
//!     let plan = step(make_plan(&service)).await?;
//!     let approval: Approval = ask_user(format!("Deploy {service}?\n{plan}")).await?;
//!     if !approval.approve {
//!         return Err(ToolError::new("not approved"));
//!     }
//!     set_status(format!("rolling out to {}%", approval.percent));
//!     step(roll_out(&plan, approval.percent)).await?;
//!     Ok(format!("{service} is out"))
//! }
//! # async fn make_plan(_: &str) -> std::io::Result<String> { Ok(String::new()) }
//! # async fn roll_out(_: &str, _: u8) -> std::io::Result<()> { Ok(()) }
//!
//! # #[cfg(feature = "server")]
//! #[tokio::main]
//! async fn main() -> Result<(), mcp_tasks::Error> {
//!     TaskServer::new("deployer", env!("CARGO_PKG_VERSION"))
//!         .task(deploy)
//!         .serve_stdio()
//!         .await
//! }
//! # #[cfg(not(feature = "server"))]
//! # fn main() {}
//! ```
//!
//! A client that declares the Tasks extension gets a task for the call: it polls
//! `tasks/get`, sees `input_required` with the form of `Approval`, answers by
//! `tasks/update`, and finds the result in the same place. Or it is told of each
//! change, by `subscriptions/listen`. It may disconnect and come back at any time.
//!
//! # The pieces
//!
//! | to | see |
//! |---|---|
//! | make a function a tool, or methods | [`mcp_task`], [`mcp_task_impl`] |
//! | give a part of a task a function of its own | [`mcp_task_flow`] |
//! | limit its arguments, give them defaults | `#[arg(..)]` of [`mcp_task`], [`argument`] |
//! | take more than arguments | [`State`], [`Caller`], [`ClientInfo`], [`Meta`] |
//! | ask a person | [`ask_user`], [`Elicit`](mod@elicit), [`FromSchema`](elicit::FromSchema), [`ask_user_url`] |
//! | ask the client's model, or where it works | [`ask_model`], [`ModelRequest`], [`list_roots`] |
//! | touch the outside world | [`step`], [`step_value`], [`step_with`], [`step_key`], [`unrecorded`] |
//! | wait | [`sleep`], [`sleep_until`], [`signal`], [`cancelled`] |
//! | do several things at once | [`join!`], [`try_join!`], [`race!`], [`join_all`] |
//! | know the time, or draw lots | [`now`], [`random`], [`uuid()`] |
//! | change the code under running tasks | [`patched`], `version` of [`mcp_task`] |
//! | settle questions before there is a task | [`start_task`] |
//! | say how it goes | [`set_status`], [`report_progress`], [`set_ttl`], [`extend_ttl`], [`task_id`] |
//! | return something | text, [`Json`], [`ContentBlock`], [`ToolResult`], [`ToolError`] |
//! | serve, alone or around an rmcp handler | `TaskServer` |
//! | keep tasks | [`TaskStore`], [`MemoryStore`] |
//! | look into a store without touching it | `store::inspect`, or `mcp-tasks inspect FILE.db` (feature `cli`) |
//! | see what tasks do, and whose trace they belong to | [Watching it](#watching-it), [`is_replaying`], [`trace_context`] |
//! | test a function, and crash the server under it | [`testing`] |
//! | put the router before something else | [`router`], [`runtime`] |
//!
//! # Every kind of client
//!
//! The same function serves clients that know nothing of tasks.
//!
//! | the client | a call | a question |
//! |---|---|---|
//! | declares the Tasks extension (2026-07-28) | is a task, from the beginning or from [`start_task`] on | shows in `tasks/get`, and is answered by `tasks/update` |
//! | does not declare it (2026-07-28) | returns its result | is returned instead of the result, in rounds (P60): the client calls again with the answers and the `requestState` that it was given |
//! | is of an older session (`initialize`) | stays open until it returns | is sent to the client while the call is open (P70) |
//!
//! `#[mcp_task(support = "required")]` refuses calls that cannot be tasks before
//! anything runs; that is the default for a function with [`sleep`] or [`signal`]
//! in its body, since a call should not stay open for days. `"forbidden"` makes no
//! tasks.
//!
//! In rounds the sealed journal travels as `requestState`: encrypted, good for
//! the caller, tool and arguments that it was given for, for an hour (`state_ttl`).
//! Servers on one durable store agree on the keys; without one, give them with
//! `TaskServer::state_keys`, or a restart makes every state invalid.
//!
//! What a step promises then: with a durable store each state is accepted once
//! (`once = false` turns that off), so that a step whose round has been replied
//! to is not run again. Without one a client may send an old state again, and what
//! came after it runs again; a step that is `at_most_once` is refused.
//!
//! # What is recorded, and when
//!
//! Whatever a function learns from outside is appended to the task's journal
//! before the function sees it: a question before it is visible, an answer
//! before it is acknowledged, a step's result before it is returned, the end
//! before it can be read. Outcomes reach the function in the order of the
//! journal, one between two polls.
//!
//! In a durable store, `SqliteStore`, journals outlive the process. After a
//! crash, a deploy, or a long wait the function is run again from the top:
//! whatever it asks for is answered from the journal until it is where it was.
//! So code between two awaits must be deterministic and harmless to repeat;
//! that is why every `.await` must be one of ours or inside a [`step`], and why
//! time and chance come from [`now`], [`random`] and [`uuid()`].
//!
//! A step runs at least once until its result is recorded, and never after. What
//! must not even run twice takes [`step_key`] along, or says `at_most_once`.
//!
//! # Code that changes under running tasks
//!
//! During a replay each question, step and timer is compared with what the
//! journal recorded under its key: kinds, the words and forms of questions, the
//! functions that steps call. What does not fit is found before anything new
//! happens, and **holds** the task: it shows as `working` with a `statusMessage`
//! that names both sides, it can be cancelled, it expires by its ttl, and it goes
//! on when a server comes up whose code fits. The log says where in the code,
//! why that usually happens, and what to do. See `version` of [`mcp_task`],
//! [`patched`], and [`testing::replay`].
//!
//! A task that brings down its process when it is resumed, alone and again and
//! again, is held as well, until another build of the server tries it.
//!
//! # Several processes
//!
//! Every process that opens a store is a holder: it has a lease, which a
//! heartbeat renews, and each task that it runs has a fencing number that grows
//! with every claim. Any process answers any request; a task runs in one. One
//! that has died is taken over, and one that was only asleep finds that it has
//! lost its tasks before it runs on, and writes nothing.
//!
//! # How many run at once
//!
//! A function runs from its call, or from what it has waited for, until it waits
//! again for a person, a timer or a signal. Of a tool with
//! `#[mcp_task(concurrency = 4)]` at most four run at once, and of one
//! authenticated caller as many as [`Limits::running_per_caller`] says, in all
//! processes of the server on its store together; in one process,
//! [`Limits::running`] of all. The others wait their turn, as `working`. Callers
//! have their turns one after the other, so that a burst of one does not keep the
//! others waiting.
//!
//! # Who sees a task
//!
//! A task belongs to its [`Caller`], whom the host's authentication establishes;
//! for everybody else it does not exist: replies are the same for tasks of others
//! and for tasks that never were, and take as long. Over HTTP the caller is what a
//! layer in front has put into the request's extensions, or what
//! `TaskServer::bearer_tokens` or `TaskServer::caller` say; over stdio,
//! `TaskServer::stdio_caller`. Without authentication everybody is `anonymous` and
//! the task's id, with its 130 random bits, is the secret.
//!
//! # Watching it
//!
//! What becomes of tasks is told to [`tracing`], once each, when it is recorded: a
//! function that is run again repeats nothing. There are ids, names of tools, keys
//! and numbers in it, and nothing that a client, a person or a function has written:
//! no arguments, answers, results, messages, tokens. The one exception is the message
//! of a panic, which the author's code has written; it is in the log and never on the
//! wire. Without authentication a task's id is the secret that grants access to it:
//! keep logs accordingly.
//!
//! | target | level | told |
//! |---|---|---|
//! | `mcp_tasks::task` | error | the task is held, and what to do about it |
//! | | warn | taken over from a process that has died |
//! | | info | created, asked, answered, signalled, step failed or tried again, cancellation requested, no longer held, ended |
//! | | debug | step done or about to run, timer set or gone off, withdrawn, patched, parked, resumed |
//! | `mcp_tasks::request` | debug | refused, by code; a limit reached, by name |
//! | by module | error, warn | what the server's operator should know of: the store fails, a function panics, a lease is lost |
//!
//! A function is polled in the span `task` (info) with the fields `id`, `tool`,
//! `version` and `traceparent`, so that its own events, also inside steps, say which
//! task they are of; with every resumption there is a new one, which follows from
//! whatever has led to it. A request is answered in the span `request` (debug) with
//! `method`, `tool`, `task` and, if it is refused, `code`. A function's own events are
//! logged again when it is run again: [`is_replaying`] tells them apart, and shows how
//! to pass over them.
//!
//! A call's W3C trace context, `traceparent` and `tracestate` in its `_meta`, is
//! recorded with the task. [`trace_context`] gives it to the function and to whatever
//! it calls, after a restart too, to be sent on.
//!
//! With the feature `metrics` there are figures, by way of the facade of that name;
//! install any of its exporters.
//!
//! | figure | kind | labels |
//! |---|---|---|
//! | `mcp_tasks_calls_total` | counter | `tool`; `path`: `task`, `rounds`, `session`, `inline` |
//! | `mcp_tasks_refused_total` | counter | `reason`: `capability`, `parameters`, `method`, `internal`, `unauthenticated`, `request` |
//! | `mcp_tasks_limits_reached_total` | counter | `limit`: a field of [`Limits`], or `message` |
//! | `mcp_tasks_created_total` | counter | `tool` |
//! | `mcp_tasks_ended_total` | counter | `tool`; `outcome`: `completed`, `failed`, `cancelled`, `expired` |
//! | `mcp_tasks_held_total` | counter | `tool` |
//! | `mcp_tasks_resumed_total` | counter | `tool`; `after`: `wait`, `crash` |
//! | `mcp_tasks_steps_total` | counter | `tool`; `outcome`: `done`, `failed`, `retried` |
//! | `mcp_tasks_asked_total` | counter | `tool` |
//! | `mcp_tasks_answered_total` | counter | `tool` |
//! | `mcp_tasks_commits_total` | counter | |
//! | `mcp_tasks_live` | gauge | tasks that have not ended; of the whole store, at each heartbeat, if it is durable |
//! | `mcp_tasks_resident` | gauge | tasks in the memory of this process |
//! | `mcp_tasks_subscriptions` | gauge | |
//! | `mcp_tasks_answer_seconds` | histogram | `tool`; from a question to its answer |
//! | `mcp_tasks_commit_seconds` | histogram | how long the store takes |
//! | `mcp_tasks_wake_seconds` | histogram | from the record of an outcome until the function is shown it |
//! | `mcp_tasks_resume_seconds` | histogram | from a claim until the function has caught up with its journal |
//!
//! Numbers such as P12 in these pages are those of [`protocol::rules`].
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `http` (default) | streamable HTTP, as a server or a tower service; axum |
//! | `server` (with `http`) | stdio, and rmcp for everything that is not ours |
//! | `sqlite` (default) | `SqliteStore`: rusqlite with SQLite bundled |
//! | `postgres` | `PostgresStore`: the same server on any number of machines |
//! | `postgres-tls` | the same with TLS (`sslmode=require` in the URL) |
//! | `client` | [`client`], over stdio and streamable HTTP; reqwest with rustls |
//! | `client-stdio` (with `client`) | the same without HTTP |
//! | `cli` | the program `mcp-tasks`: `cargo install mcp-tasks --features cli`; clap, inquire, indicatif |
//! | `metrics` | counters and histograms |
//! | `store-parity` | `store::parity`, what every store must do, to run against one of your own |
//! | none | the engine, the router and the memory store, on tokio and serde |

pub mod argument;
#[cfg(feature = "client-stdio")]
pub mod client;
pub mod elicit;
mod flow;
mod observe;
pub mod protocol;
pub mod router;
pub mod runtime;
#[cfg(feature = "server")]
pub mod server;
pub mod store;
pub mod task;
pub mod testing;

/// What [`uuid()`] gives.
pub use ::uuid::Uuid;
pub use elicit::Elicit;
pub use flow::{
    Ask, AskError, BoundStep, Consent, DurableFuture, Extract, FlowCall, Given, JoinAll, Json,
    ListRoots, MissingState, Needs, OnAmbiguous, OptionalAsk, OutsideOfTask, Random, Retry, Signal,
    SignalError, SignalValue, Sleep, State, States, Step, StepError, StepOutcome, StepResult,
    StepValue, StepWith, TaskOutput, TimedOut, ToolError, ToolOutput, Unrecorded, ask_model,
    ask_user, ask_user_url, cancelled, extend_ttl, join_all, list_roots, now, patched, random,
    report_progress, set_status, set_ttl, signal, sleep, sleep_until, start_task, step, step_key,
    step_value, step_with, task_id, unrecorded, uuid,
};
pub use mcp_tasks_macros::Elicit;
/// ```
/// use mcp_tasks::prelude::*;
///
/// /// Greets somebody, in the server's own words.
/// #[mcp_task(ttl = "1h", poll_interval = "500ms")]
/// async fn greet(
///     /// Who asks for it
///     requester: String,
///     State(greeting): State<String>,
/// ) -> Result<String, ToolError> {
///     let name: String = ask_user(format!("{requester} wants you greeted. Your name?")).await?;
///     Ok(format!("{greeting}, {name}!"))
/// }
/// ```
///
pub use mcp_tasks_macros::mcp_task;
/// ```
/// use mcp_tasks::prelude::*;
///
/// /// Asks until somebody says yes, at most three times.
/// #[mcp_task_flow]
/// async fn confirm(what: &str) -> Result<bool, AskError> {
///     for _ in 0..3 {
///         let approval: bool = ask_user(format!("{what}?")).await?;
///         if approval {
///             return Ok(true);
///         }
///         sleep(Duration::from_secs(3600)).await;
///     }
///     Ok(false)
/// }
///
/// #[mcp_task]
/// async fn release(version: String) -> Result<String, ToolError> {
///     // Asks under the key `confirm/approval`, `confirm/approval#2`, ...
///     if !confirm(&format!("Release {version}")).await? {
///         return Err(ToolError::new("not approved"));
///     }
///     // Asks under `announced/approval`.
///     let announced = confirm("Announce it").await?;
///     Ok(format!("released, {}", if announced { "announced" } else { "quietly" }))
/// }
/// ```
///
pub use mcp_tasks_macros::mcp_task_flow;
/// ```
/// use mcp_tasks::prelude::*;
///
/// struct Deployer {
///     region: String,
/// }
///
/// #[mcp_task_impl]
/// impl Deployer {
///     /// Deploys a service once a person has signed off.
///     #[mcp_task(ttl = "24h")]
///     async fn deploy(&self, service: String) -> Result<String, ToolError> {
///         if !self.confirm(&service).await? {
///             return Err(ToolError::new("not approved"));
///         }
///         Ok(format!("{service} is out in {}", self.region))
///     }
///
///     #[mcp_task_flow]
///     async fn confirm(&self, service: &str) -> Result<bool, AskError> {
///         ask_user(format!("Deploy {service} in {}?", self.region)).await
///     }
/// }
///
/// # #[cfg(feature = "server")]
/// # async fn serve() -> Result<(), mcp_tasks::Error> {
/// TaskServer::new("deployer", "1.0.0")
///     .tasks_of(Deployer { region: "north".to_owned() })
///     .serve_stdio()
///     .await
/// # }
/// ```
///
pub use mcp_tasks_macros::mcp_task_impl;
pub use observe::{TraceContext, is_replaying, trace_context};
pub use protocol::{
    Audience, Choice, ContentBlock, Icon, IconTheme, InputKind, ModelReply, ModelRequest,
    ProtocolError, Root, ToolResult,
};
#[cfg(any(feature = "server", feature = "client-stdio"))]
pub use rmcp;
pub use runtime::{Limits, Tasks};
#[cfg(feature = "server")]
pub use server::TaskServer;
#[cfg(feature = "postgres")]
pub use store::PostgresStore;
#[cfg(feature = "sqlite")]
pub use store::SqliteStore;
pub use store::{MemoryStore, TaskStore};
pub use task::{Caller, ClientInfo, Meta};

#[cfg(feature = "postgres")]
pub mod guide;

/// What task functions usually need: `use mcp_tasks::prelude::*`.
pub mod prelude {
    pub use std::time::Duration;

    #[cfg(feature = "postgres")]
    pub use crate::PostgresStore;
    #[cfg(feature = "sqlite")]
    pub use crate::SqliteStore;
    #[cfg(feature = "server")]
    pub use crate::TaskServer;
    pub use crate::{
        AskError, Caller, ClientInfo, Elicit, Json, Meta, OnAmbiguous, Retry, SignalError, State,
        StepError, TimedOut, ToolError, ask_model, ask_user, ask_user_url, cancelled, extend_ttl,
        join, join_all, list_roots, mcp_task, mcp_task_flow, mcp_task_impl, now, patched, race,
        random, report_progress, set_status, set_ttl, signal, sleep, sleep_until, start_task, step,
        step_key, step_value, step_with, task_id, try_join, unrecorded, uuid,
    };
}

/// What the macros write; not for use by hand, and not covered by semver.
#[doc(hidden)]
pub mod __private {
    pub use crate::elicit::derived as elicit;
    pub use crate::flow::{
        AnyArguments, Arguments, Bind, BindFlow, BindFlowOther, BindHere, BindLazy, BindOther,
        Body, DroppedOther, EvaluateOther, Flow, FlowCall, Owner, Site, Unawaited, UnawaitedOther,
        branch, durable, join, never_awaited, not_understood, race, try_join,
    };
    pub use crate::runtime::{
        AnyType, CallContext, DecodeError, Definition, Extractor, Methods, Of, PlainArgument,
        Support, TaskCall, TaskMethods, Whole, argument, default_of_type, plain_schema,
        with_fraction, with_items, with_length,
    };
    pub use serde_json::json;
    pub use {schemars, serde};
}

/// Why a server cannot run.
///
/// Its `Debug` is its `Display`, so that `fn main() -> Result<(), Error>` ends
/// with words.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is put together wrongly; the words say what to change.
    #[error("{0}")]
    Config(String),
    /// The operating system refused something.
    #[error("{doing}: {error}")]
    Io {
        /// What was tried.
        doing: String,
        /// What the operating system said.
        #[source]
        error: std::io::Error,
    },
    /// A store cannot be opened; what there is was left as it is.
    #[error("cannot open the task store `{}`: {problem}", path.display())]
    Store {
        /// Where it is.
        path: std::path::PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Io {
            doing: "input or output failed".to_owned(),
            error,
        }
    }
}
