//! Runs tasks: the tools of a server, the functions that are under way, the
//! clock that ends them.
//!
//! A task's function runs in a driver of its own. Whoever changes a task from
//! outside (an answer, a cancellation, time) changes it in the store and then
//! pokes the driver, which reads what it has missed. What one task costs does
//! not depend on how many others there are: there is no list to sweep, and a
//! task that waits is one parked future.

mod builder;
mod call;
mod driver;
mod ids;
mod known;
mod limits;
mod output;
mod signature;
mod tasks;
mod tool;

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tokio::sync::Semaphore;

pub use builder::RuntimeBuilder;
pub use call::CallRequest;
pub use limits::Limits;
pub use output::Called;
pub use signature::{AnyType, Argument, Of, argument};
pub use tasks::{Stats, Tasks};
pub use tool::{CallContext, DecodeError, Definition, Support, TaskCall, TaskFn, Tool};

use crate::flow::States;
use crate::store::{Change, StoreError, TaskStore};
use crate::task::{Retention, TaskId, Timestamp};
use ids::Ids;
use known::KnownTasks;

/// The tools of one server and their running tasks; a cheap handle.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

/// What every handle and every driver of one runtime share.
struct Shared {
    server_info: Value,
    tools: Vec<Tool>,
    states: States,
    store: Arc<dyn TaskStore>,
    limits: Limits,
    retention: Retention,
    ids: Ids,
    known: KnownTasks,
    /// One permit per function that is running rather than waiting.
    running: Arc<Semaphore>,
}

impl Runtime {
    /// A runtime for a server of this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> RuntimeBuilder {
        RuntimeBuilder::new(name.into(), version.into())
    }

    /// The tools, in the order in which they were registered.
    pub fn tools(&self) -> std::slice::Iter<'_, Tool> {
        self.shared.tools.iter()
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().find(|tool| tool.name() == name)
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The server's name and version, as they stand in every result's `_meta`.
    pub fn server_info(&self) -> &Value {
        &self.shared.server_info
    }

    /// Whether tasks outlive the process.
    pub fn is_durable(&self) -> bool {
        self.shared.store.is_durable()
    }

    /// The handle for the server's own code.
    pub fn tasks(&self) -> Tasks {
        Tasks::new(&self.shared)
    }
}

impl Shared {
    fn now() -> Timestamp {
        SystemTime::now().into()
    }

    /// Lets everybody concerned know of a change that was made in the store.
    fn follow_up(self: &Arc<Self>, change: &Change) {
        let id = &change.snapshot.id;
        if change.changed {
            self.known.poke(id);
        }
        if let Some((at, _)) = change.snapshot.due(self.retention) {
            self.known.schedule(self, id, at);
        }
    }

    /// Does what time has made due for one task.
    async fn elapse(self: &Arc<Self>, id: &TaskId) {
        match self.store.elapse(id, self.retention, Self::now()).await {
            Ok(None) => {}
            Ok(Some(change)) => self.follow_up(&change),
            Err(error) => {
                tracing::error!(task = %id, %error, "could not expire a task, trying again");
                self.known
                    .schedule(self, id, Self::now().plus_millis(RETRY_MS));
            }
        }
    }
}

/// How long to wait before asking a store again that could not answer.
const RETRY_MS: u64 = 1000;

/// The words for a store that could not do what a client asked.
fn store_failed(error: &StoreError) -> crate::protocol::ProtocolError {
    use crate::protocol::ProtocolError;
    match error {
        StoreError::Full(words) => ProtocolError::internal(words.clone()),
        StoreError::Unavailable(_) | StoreError::Damaged { .. } => {
            tracing::error!(%error, "the store failed");
            ProtocolError::internal("the task store is not available right now, try again later")
        }
    }
}
