//! Servers over one store, and callers who start tasks on them, on a clock that
//! goes as fast as they work.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::protocol::{ProtocolError, TaskStatus};
use mcp_tasks::runtime::{Called, Runtime, RuntimeBuilder};
use mcp_tasks::task::{Snapshot, TaskId};
use mcp_tasks::{Caller, MemoryStore, TaskStore};
use serde_json::Value;
use tokio::time::Instant;

use crate::replay;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A store that servers share.
pub(crate) struct World(replay::World);

/// A caller on one of the servers.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) caller: Caller,
}

impl World {
    pub(crate) fn new() -> Self {
        Self(replay::World::new())
    }

    pub(crate) fn holder(&self) -> MemoryStore {
        self.0.holder()
    }

    pub(crate) fn server(&self, tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Runtime {
        self.server_on(self.holder(), tools)
    }

    /// Starts a server that parks what waits, as servers do unless they are told
    /// otherwise.
    pub(crate) fn server_on(
        &self,
        store: impl TaskStore,
        tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Runtime {
        let tools = |builder: RuntimeBuilder| tools(builder.park_after(30 * SECOND));
        self.0.start_on(store, tools).runtime
    }
}

impl Client {
    pub(crate) fn of(runtime: &Runtime, caller: &str) -> Self {
        Self {
            runtime: runtime.clone(),
            caller: Caller::new(caller),
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value, tasks: bool) -> Called {
        let called = self.try_call(tool, arguments, tasks).await;
        called.expect("there is nothing wrong with the call")
    }

    pub(crate) async fn try_call(
        &self,
        tool: &str,
        arguments: Value,
        tasks: bool,
    ) -> Result<Called, ProtocolError> {
        replay::call_as(&self.runtime, &self.caller, tool, &arguments, tasks).await
    }

    pub(crate) async fn task(&self, tool: &str, arguments: Value) -> TaskId {
        match self.call(tool, arguments, true).await {
            Called::Task(task) => task.id.clone(),
            other => panic!("no task: {other:?}"),
        }
    }

    pub(crate) async fn get(&self, id: &TaskId) -> Arc<Snapshot> {
        let found = self.runtime.get(id, &self.caller).await;
        found.expect("the task is there")
    }

    pub(crate) async fn answer(&self, id: &TaskId, key: &str, text: &str) {
        let answered = replay::answer_as(&self.runtime, &self.caller, id, key, &text.into()).await;
        answered.expect("the answer fits");
    }

    /// Waits until `wanted` holds for a task.
    pub(crate) async fn until(
        &self,
        id: &TaskId,
        wanted: impl Fn(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        loop {
            let task = self.get(id).await;
            if wanted(&task) {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a task has completed; gives how long that took.
    pub(crate) async fn until_done(&self, id: &TaskId) -> Duration {
        let since = Instant::now();
        let task = self.until(id, Snapshot::is_terminal).await;
        assert_eq!(task.status(), TaskStatus::Completed, "{task:?}");
        since.elapsed()
    }
}
