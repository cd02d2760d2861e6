//! Tasks from the server's own code.

use std::sync::{Arc, Weak};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::call::Unsure;
use super::{Shared, TaskFilter, TaskUpdates, Watch, store_failed};
use crate::observe::story;
use crate::protocol::ProtocolError;
use crate::store::StoreStats;
use crate::task::{Access, Journal, Snapshot, TaskId};

/// A handle on a server's tasks for code beside the tools: a job system, an
/// admin page, another tool.
///
/// It sees the tasks of all callers. A task function gets one as
/// `State(tasks): State<Tasks>`. It does not keep the server alive.
#[derive(Clone)]
pub struct Tasks {
    shared: Weak<Shared>,
}

/// Counts of what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Tasks whose functions are in memory.
    pub resident: u64,
    /// What the store holds.
    pub store: StoreStats,
}

impl Tasks {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self::from_weak(Arc::downgrade(shared))
    }

    pub(super) fn from_weak(shared: Weak<Shared>) -> Self {
        Self { shared }
    }

    fn shared(&self) -> Result<Arc<Shared>, ProtocolError> {
        self.shared
            .upgrade()
            .ok_or_else(|| ProtocolError::internal("the server has shut down"))
    }

    /// Reads a task; `None` if there is none of this id.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails, or the server is gone.
    pub async fn get(&self, id: &TaskId) -> Result<Option<Arc<Snapshot>>, ProtocolError> {
        let shared = self.shared()?;
        let found = shared.store.get(id, Access::Server).await;
        found.map_err(|error| store_failed(&error))
    }

    /// Lists tasks of this server, newest first: those that fit the filter, of
    /// all callers unless it names one.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails, or the server is gone.
    ///
    /// # Example
    ///
    /// ```
    /// # use mcp_tasks::protocol::{ProtocolError, TaskStatus};
    /// # use mcp_tasks::runtime::TaskFilter;
    /// # use mcp_tasks::Tasks;
    /// async fn remind(tasks: Tasks) -> Result<(), ProtocolError> {
    ///     let waiting = TaskFilter::new().status(TaskStatus::InputRequired);
    ///     for task in tasks.list(&waiting).await? {
    ///         println!("{} waits for {}", task.tool, task.caller);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub async fn list(&self, filter: &TaskFilter) -> Result<Vec<Arc<Snapshot>>, ProtocolError> {
        self.shared()?.list(filter).await
    }

    /// Cancels a task; false if there is none of this id. A task that has
    /// ended stays as it is.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails, or the server is gone.
    pub async fn cancel(&self, id: &TaskId) -> Result<bool, ProtocolError> {
        let shared = self.shared()?;
        shared.cancel(id, Access::Server).await
    }

    /// Reads a task's journal; `None` if there is no task of this id, or it has
    /// ended: what a task was asked and told is not kept longer than it must.
    ///
    /// It holds arguments, answers and results as they were given.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails, or the server is gone.
    pub async fn journal(&self, id: &TaskId) -> Result<Option<Journal>, ProtocolError> {
        let shared = self.shared()?;
        let entries = shared.store.read(id, 0).await;
        let entries = entries.map_err(|error| store_failed(&error))?;
        Ok(Journal::new(entries).ok())
    }

    /// Fulfils a signal: hands a value to the function, before or after it
    /// waits for a signal of that name. False if there is no task of this id; a
    /// task that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// `-32603` if the value cannot be written as JSON, if the store fails, or
    /// the server is gone.
    ///
    /// # Durability
    ///
    /// When this returns, the value is recorded, and survives restarts.
    pub async fn signal<T: Serialize + ?Sized>(
        &self,
        id: &TaskId,
        name: &str,
        value: &T,
    ) -> Result<bool, ProtocolError> {
        let shared = self.shared()?;
        let value: Arc<RawValue> = to_raw_value(value)
            .map_err(|error| {
                ProtocolError::internal(format!("the signal `{name}` is not JSON: {error}"))
            })?
            .into();
        let unsure = Unsure(&shared, id);
        let change = shared.store.signal(id, name, &value, shared.now()).await;
        unsure.has_heard(&change);
        let change = change.map_err(|error| store_failed(&error))?;
        if let Some(change) = &change {
            if change.changed {
                story::signalled(&change.snapshot, name);
            }
            shared.follow_up(change);
        }
        Ok(change.is_some())
    }

    /// Hears of what becomes of a task, here or in another process: gives its
    /// state now, then each that it changes to. `None` if there is no task of
    /// this id.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails, or the server is gone.
    ///
    /// # Example
    ///
    /// ```
    /// # use mcp_tasks::protocol::ProtocolError;
    /// # use mcp_tasks::task::TaskId;
    /// # use mcp_tasks::Tasks;
    /// async fn log(tasks: Tasks, id: TaskId) -> Result<(), ProtocolError> {
    ///     let Some(mut updates) = tasks.subscribe(&id).await? else {
    ///         return Ok(());
    ///     };
    ///     while let Some(task) = updates.next().await {
    ///         println!("{}: {:?}", task.id, task.status());
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub async fn subscribe(&self, id: &TaskId) -> Result<Option<TaskUpdates>, ProtocolError> {
        let shared = self.shared()?;
        let found = shared.store.get(id, Access::Server).await;
        if found.map_err(|error| store_failed(&error))?.is_none() {
            return Ok(None);
        }
        Watch::of(&shared, id).await.map(TaskUpdates::new).map(Some)
    }

    /// Counts tasks.
    ///
    /// # Errors
    ///
    /// `-32603` if the store fails, or the server is gone.
    pub async fn stats(&self) -> Result<Stats, ProtocolError> {
        let shared = self.shared()?;
        let store = shared.store.stats().await;
        Ok(Stats {
            resident: shared.known.resident() as u64,
            store: store.map_err(|error| store_failed(&error))?,
        })
    }
}
