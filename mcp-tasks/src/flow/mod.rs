//! What a task function awaits.
//!
//! The free functions ([`ask_user`], [`step`], [`sleep`], ...) only describe
//! what is wanted. Inside a function marked `#[mcp_task]` or `#[mcp_task_flow]` the attribute
//! binds each description to the running task and to a stable key; only what is bound
//! can be awaited. A description that nothing binds does not compile.
//!
//! Whatever comes from outside is recorded in the task's journal before the
//! function sees it. Outcomes are delivered in the order of the journal,
//! exactly one between two polls of the function.

mod ask;
mod bind;
mod call;
mod choices;
mod context;
mod draw;
mod durable;
mod elsewhere;
mod error;
mod join;
mod key;
mod macros;
mod output;
mod patch;
mod recorded;
mod replay;
mod request;
pub(crate) mod schema;
mod signal;
mod start;
mod state;
mod status;
mod step;
mod timer;
mod unrecorded;
mod value;

pub use ask::{
    Ask, Consent, ListRoots, OptionalAsk, ask_model, ask_user, ask_user_url, list_roots,
};
pub use bind::{
    Bind, BindHere, BindLazy, BindOther, EvaluateOther, Site, Unawaited, UnawaitedOther,
    not_understood,
};
use bind::{Bound, NotInTask};
pub use call::{BindFlow, BindFlowOther, DroppedOther, FlowCall};
pub(crate) use context::Context;
pub use context::Flow;
pub use draw::{Random, now, random, uuid};
pub use durable::{DurableFuture, branch, durable, never_awaited};
pub use error::{AskError, SignalError, StepError, TimedOut, ToolError};
pub use join::{JoinAll, join, join_all, race, try_join};
pub(crate) use output::Running;
pub use output::{AnyArguments, Arguments, Body, Json, TaskOutput, ToolOutput};
pub use patch::patched;
pub use recorded::{StepOutcome, StepResult};
pub(crate) use replay::{Contradiction, Record};
pub(crate) use request::Request;
pub use signal::{Signal, SignalValue, signal};
pub use start::start_task;
pub use state::{Extract, Given, MissingState, Needs, Owner, State, States};
pub use status::{cancelled, extend_ttl, report_progress, set_status, set_ttl, task_id};
pub use step::{
    BoundStep, OnAmbiguous, Retry, Step, StepValue, StepWith, step, step_key, step_value, step_with,
};
pub use timer::{Sleep, sleep, sleep_until};
pub use unrecorded::{Unrecorded, unrecorded};
pub use value::OutsideOfTask;
