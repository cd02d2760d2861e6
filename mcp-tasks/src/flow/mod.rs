//! What a task function awaits.
//!
//! The free functions ([`ask_user`], [`step`], [`sleep`], ...) only describe
//! what is wanted. Inside a function marked `#[mcp_task]` the attribute binds
//! each description to the running task and to a stable key; only what is bound
//! can be awaited. A description that nothing binds does not compile.
//!
//! Whatever comes from outside is recorded in the task's journal before the
//! function sees it. Outcomes are delivered in the order of the journal,
//! exactly one between two polls of the function.

mod ask;
mod bind;
mod context;
mod durable;
mod error;
mod join;
mod key;
mod macros;
mod output;
mod recorded;
pub(crate) mod schema;
mod state;
mod status;
mod step;
mod timer;

pub use ask::{Ask, OptionalAsk, ask_user};
pub use bind::{
    Bind, BindHere, BindLazy, BindOther, EvaluateOther, Site, Unawaited, UnawaitedOther,
};
use bind::{Bound, NotInTask};
pub use context::Flow;
pub(crate) use context::{Context, Request};
pub use durable::{DurableFuture, branch, durable};
pub use error::{AskError, StepError, ToolError};
pub use join::{JoinAll, join, join_all, race, try_join};
pub(crate) use output::Running;
pub use output::{Body, Json, TaskOutput, ToolOutput};
pub use recorded::{StepOutcome, StepResult};
pub use state::{Extract, MissingState, State, States};
pub use status::{cancelled, extend_ttl, report_progress, set_status, set_ttl, task_id};
pub use step::{Step, StepValue, step, step_value};
pub use timer::{Sleep, sleep, sleep_until};
