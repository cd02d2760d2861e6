//! Servers over one store, and callers who start tasks on them, on a clock that
//! goes as fast as they work.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcp_tasks::protocol::{Capabilities, ElicitationModes, ProtocolError, TaskStatus};
use mcp_tasks::runtime::{CallRequest, Called, Runtime, RuntimeBuilder};
use mcp_tasks::task::{Answer, InputKey, Snapshot, TaskId};
use mcp_tasks::{Caller, MemoryStore, TaskStore};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::time::Instant;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A store that servers share.
pub(crate) struct World {
    store: MemoryStore,
    start: (SystemTime, Instant),
}

/// A caller on one of the servers.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) caller: Caller,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            start: (SystemTime::now(), Instant::now()),
        }
    }

    pub(crate) fn holder(&self) -> MemoryStore {
        self.store.share()
    }

    pub(crate) fn server(&self, tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Runtime {
        self.server_on(self.holder(), tools)
    }

    pub(crate) fn server_on(
        &self,
        store: impl TaskStore,
        tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Runtime {
        let builder = Runtime::builder("test", "1")
            .tokio_clock(self.start.0, self.start.1)
            .store(store);
        let runtime = tools(builder).build().expect("the server is put together");
        runtime.start();
        runtime
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
        let arguments = to_raw_value(&arguments).expect("JSON");
        let capabilities = Capabilities {
            tasks,
            elicitation: ElicitationModes {
                form: true,
                url: false,
            },
            ..Capabilities::default()
        };
        let call = CallRequest {
            arguments: Some(&arguments),
            caller: &self.caller,
            capabilities,
            client: None,
            meta: None,
            retry: None,
            session: None,
            progress: None,
        };
        let tool = self.runtime.tool(tool).expect("the tool is there");
        self.runtime.call(tool, call).await
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
        let response = json!({"action": "accept", "content": {"answer": text}});
        let response = to_raw_value(&response).expect("JSON");
        let answer = Answer {
            key: InputKey::new(key),
            response: &response,
        };
        let updated = self.runtime.update(id, &self.caller, &[answer]).await;
        updated.expect("the answer fits");
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
