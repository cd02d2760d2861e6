//! A client that calls a runtime in the same process.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks::Caller;
use mcp_tasks::protocol::{Capabilities, TaskStatus};
use mcp_tasks::runtime::{CallRequest, Called, Runtime, RuntimeBuilder};
use mcp_tasks::task::{Answer, InputKey, Snapshot, TaskId};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// Declares tasks and elicitation.
fn capabilities() -> Capabilities {
    serde_json::from_value(json!({
        "elicitation": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    }))
    .unwrap()
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) runtime: Runtime,
    pub(crate) caller: Caller,
}

impl Client {
    pub(crate) fn new(builder: RuntimeBuilder) -> Self {
        Self {
            runtime: builder.build().unwrap(),
            caller: Caller::anonymous(),
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Called {
        let arguments = to_raw_value(&arguments).unwrap();
        let request = CallRequest {
            arguments: Some(&arguments),
            caller: &self.caller,
            capabilities: capabilities(),
            client: None,
            meta: None,
            retry: None,
            session: None,
            progress: None,
        };
        let tool = self.runtime.tool(tool).unwrap();
        self.runtime.call(tool, request).await.unwrap()
    }

    pub(crate) async fn task(&self, tool: &str, arguments: Value) -> TaskId {
        match self.call(tool, arguments).await {
            Called::Task(task) => task.id.clone(),
            other => panic!("no task: {other:?}"),
        }
    }

    pub(crate) async fn get(&self, id: &TaskId) -> Arc<Snapshot> {
        self.runtime.get(id, &self.caller).await.unwrap()
    }

    /// Waits until `wanted` holds for the task.
    pub(crate) async fn until(
        &self,
        id: &TaskId,
        wanted: impl Fn(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        for _ in 0..2000 {
            let task = self.get(id).await;
            if wanted(&task) {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("it never came to that: {:?}", self.get(id).await);
    }

    pub(crate) async fn until_asked(&self, id: &TaskId, questions: usize) -> Arc<Snapshot> {
        self.until(id, |task| task.input_requests.len() == questions)
            .await
    }

    /// Waits for the end; gives the text of the result.
    pub(crate) async fn until_text(&self, id: &TaskId) -> String {
        let task = self.until(id, Snapshot::is_terminal).await;
        assert_eq!(task.status(), TaskStatus::Completed, "{task:?}");
        let task: Value = serde_json::from_str(&task.to_detailed_json(&json!({}))).unwrap();
        task["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub(crate) async fn cancel(&self, id: &TaskId) {
        self.runtime.cancel(id, &self.caller).await.unwrap();
    }

    pub(crate) async fn answer(&self, id: &TaskId, answers: &[(&str, &str)]) {
        let responses: Vec<_> = answers
            .iter()
            .map(|(key, text)| (*key, accept(text)))
            .collect();
        let answers: Vec<Answer<'_>> = responses
            .iter()
            .map(|(key, response)| Answer {
                key: InputKey::new(*key),
                response,
            })
            .collect();
        self.runtime
            .update(id, &self.caller, &answers)
            .await
            .unwrap();
    }

    pub(crate) async fn resident(&self) -> u64 {
        self.runtime.tasks().stats().await.unwrap().resident
    }

    /// Waits until so many functions are left in memory.
    pub(crate) async fn until_resident(&self, wanted: u64) {
        for _ in 0..1000 {
            if self.resident().await == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("{} functions are left in memory", self.resident().await);
    }
}

pub(crate) fn accept(text: &str) -> Arc<RawValue> {
    to_raw_value(&json!({"action": "accept", "content": {"answer": text}}))
        .unwrap()
        .into()
}
