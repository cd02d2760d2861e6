//! Servers that come and go over one store, in one process.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcp_tasks::protocol::{Capabilities, ElicitationModes, ProtocolError, TaskStatus};
use mcp_tasks::runtime::{CallRequest, Called, Runtime, RuntimeBuilder};
use mcp_tasks::task::{Answer, InputKey, Snapshot, TaskId};
use mcp_tasks::{Caller, MemoryStore, TaskStore};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::time::Instant;

/// A store that outlives its servers.
pub(crate) struct World {
    store: MemoryStore,
    start: (SystemTime, Instant),
}

/// One life of a server.
pub(crate) struct Life {
    pub(crate) runtime: Runtime,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            start: (SystemTime::now(), Instant::now()),
        }
    }

    /// Starts a server on what is there.
    pub(crate) fn start(&self, tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Life {
        self.start_on(self.holder(), tools)
    }

    /// A holder of what is there.
    pub(crate) fn holder(&self) -> MemoryStore {
        self.store.share()
    }

    /// Starts a server on a store that leads to what is there.
    pub(crate) fn start_on(
        &self,
        store: impl TaskStore,
        tools: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Life {
        let builder = Runtime::builder("test", "1")
            .lease(Duration::from_secs(10))
            .park_after(Duration::from_secs(3600))
            .tokio_clock(self.start.0, self.start.1)
            .store(store);
        let runtime = tools(builder).build().expect("the server is put together");
        runtime.start();
        Life { runtime }
    }
}

impl Life {
    pub(crate) async fn crash(self) {
        self.runtime.crash().await.expect("memory does not fail");
        // What was polled for the last time is dropped now.
        settle().await;
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> TaskId {
        let called = self.try_call(tool, arguments).await;
        called.expect("the call makes a task")
    }

    pub(crate) async fn try_call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<TaskId, ProtocolError> {
        let anybody = Caller::anonymous();
        match call_as(&self.runtime, &anybody, tool, &arguments, true).await? {
            Called::Task(snapshot) => Ok(snapshot.id.clone()),
            other => panic!("no task: {other:?}"),
        }
    }

    /// How many tasks are in memory.
    pub(crate) async fn resident(&self) -> u64 {
        let stats = self.runtime.tasks().stats().await;
        stats.expect("the store answers").resident
    }

    pub(crate) async fn get(&self, id: &TaskId) -> Arc<Snapshot> {
        let found = self.runtime.get(id, &Caller::anonymous()).await;
        found.expect("the task is there")
    }

    /// Waits until the task is in a state.
    pub(crate) async fn until(
        &self,
        id: &TaskId,
        what: impl Fn(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        // Ten seconds closely, and then some hours.
        for wait in [Duration::from_millis(1), Duration::from_secs(1)] {
            for _ in 0..10_000 {
                // A store that fails now and then is asked again.
                let found = self.runtime.get(id, &Caller::anonymous()).await;
                if let Some(task) = found.ok().filter(|task| what(task)) {
                    return task;
                }
                tokio::time::sleep(wait).await;
            }
        }
        panic!("it never came to that: {:?}", self.get(id).await);
    }

    /// Waits for a question under a key.
    pub(crate) async fn asked(&self, id: &TaskId, key: &str) -> Arc<Snapshot> {
        self.until(id, |task| {
            let mut keys = task.input_requests.iter();
            keys.any(|(asked, _)| asked.as_str() == key)
        })
        .await
    }

    pub(crate) async fn answer(&self, id: &TaskId, key: &str, answer: Value) {
        let answered = self.try_answer(id, key, answer).await;
        answered.expect("the answer fits");
    }

    pub(crate) async fn try_answer(
        &self,
        id: &TaskId,
        key: &str,
        answer: Value,
    ) -> Result<(), ProtocolError> {
        answer_as(&self.runtime, &Caller::anonymous(), id, key, &answer).await
    }

    /// Waits for the end; gives the text of the result.
    pub(crate) async fn result(&self, id: &TaskId) -> String {
        let task = self.until(id, Snapshot::is_terminal).await;
        assert_eq!(task.status(), TaskStatus::Completed, "{task:?}");
        let json: Value = serde_json::from_str(&task.to_detailed_json(&Value::Null)).expect("JSON");
        let text = &json["result"]["content"][0]["text"];
        text.as_str().expect("a text").to_owned()
    }
}

/// A call by somebody whose client shows forms, and knows tasks or not.
pub(crate) async fn call_as(
    runtime: &Runtime,
    caller: &Caller,
    tool: &str,
    arguments: &Value,
    tasks: bool,
) -> Result<Called, ProtocolError> {
    let arguments = to_raw_value(arguments).expect("JSON");
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
        caller,
        capabilities,
        client: None,
        meta: None,
        retry: None,
        session: None,
        progress: None,
    };
    let tool = runtime.tool(tool).expect("the tool is there");
    runtime.call(tool, call).await
}

/// Answers a question that asks for one thing.
pub(crate) async fn answer_as(
    runtime: &Runtime,
    caller: &Caller,
    id: &TaskId,
    key: &str,
    answer: &Value,
) -> Result<(), ProtocolError> {
    let response = json!({"action": "accept", "content": {"answer": answer}});
    let response = to_raw_value(&response).expect("JSON");
    let answer = Answer {
        key: InputKey::new(key),
        response: &response,
    };
    runtime.update(id, caller, &[answer]).await
}

/// Lets everything run that can run without time going by.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
