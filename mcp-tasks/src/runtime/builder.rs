//! Puts a runtime together, and says what is missing before anything runs.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;

use super::ids::Ids;
use super::known::KnownTasks;
use super::{Limits, Runtime, Shared, TaskFn, Tasks, Tool};
use crate::Error;
use crate::flow::States;
use crate::store::{MemoryStore, TaskStore};
use crate::task::{Retention, millis};

/// Builds a [`Runtime`].
#[must_use = "a builder does nothing until it is built"]
pub struct RuntimeBuilder {
    name: String,
    version: String,
    tools: Vec<Tool>,
    states: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    store: Option<Arc<dyn TaskStore>>,
    limits: Limits,
    retention: Retention,
}

impl RuntimeBuilder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            name,
            version,
            tools: Vec::new(),
            states: HashMap::new(),
            store: None,
            limits: Limits::default(),
            retention: Retention::default(),
        }
    }

    /// Adds a tool: a function marked `#[mcp_task]`.
    pub fn task<A, F: TaskFn<A>>(mut self, function: F) -> Self {
        // Only the function's type matters: calls are made from what clients send.
        drop(function);
        self.tools.push(Tool::new::<A, F::Call>());
        self
    }

    /// Gives task functions a value, for parameters of type `State<T>`. One of
    /// each type; a second takes the place of the first.
    pub fn state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Box::new(state));
        self
    }

    /// Keeps tasks in this store instead of in memory.
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Keeps ended tasks readable for so long, instead of until their ttl is
    /// over and at least five minutes.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = Retention::Millis(millis(retention));
        self
    }

    /// Replaces the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] naming every tool that is registered twice or lacks
    /// its state.
    pub fn build(mut self) -> Result<Runtime, Error> {
        let mut names = HashSet::new();
        for tool in &self.tools {
            if !names.insert(tool.name()) {
                let name = tool.name();
                return Err(Error::Config(format!(
                    "two tools are called `{name}`; give one of them `#[mcp_task(name = \"..\")]`"
                )));
            }
        }
        let store = self
            .store
            .unwrap_or_else(|| Arc::new(MemoryStore::default()));
        let server_info = json!({ "name": self.name, "version": self.version });
        let shared = Arc::new_cyclic(|shared| {
            let tasks = Tasks::from_weak(shared.clone());
            self.states.insert(TypeId::of::<Tasks>(), Box::new(tasks));
            Shared {
                server_info,
                tools: self.tools,
                states: States::from_map(self.states),
                store,
                running: Arc::new(Semaphore::new(self.limits.running.max(1))),
                limits: self.limits,
                retention: self.retention,
                ids: Ids::default(),
                known: KnownTasks::default(),
            }
        });
        for tool in &shared.tools {
            if let Err(missing) = tool.check(&shared.states) {
                return Err(Error::Config(format!("tool `{}`: {missing}", tool.name())));
            }
        }
        Ok(Runtime { shared })
    }
}
