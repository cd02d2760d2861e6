//! Our side: a runtime over a store, as a server has it, without a wire.

use std::sync::Arc;

use mcp_tasks::prelude::*;
use mcp_tasks::protocol::{Capabilities, ElicitationModes, TaskStatus};
use mcp_tasks::runtime::{CallRequest, Called, Runtime, RuntimeBuilder};
use mcp_tasks::task::{Answer, Entry, InputKey, Snapshot, TaskId};
use mcp_tasks::{Caller, Limits, TaskStore};
use serde_json::value::RawValue;

use crate::listening::{Listening, Told};

/// A form of two fields under a question of a line or two: about what is asked
/// before something is rolled out.
#[derive(Elicit)]
struct Approval {
    /// Ship this plan?
    approve: bool,
    /// Share of traffic in the first hour
    #[elicit(min = 1, max = 100, default = 10)]
    percent: u8,
}

pub(crate) const KEY: &str = "approval";
pub(crate) const ANSWER: &str = r#"{"action":"accept","content":{"approve":true,"percent":25}}"#;

/// Asks once, and says what was answered.
#[mcp_task(ttl = "24h")]
async fn deploy(service: String) -> Result<String, ToolError> {
    let approval: Approval = ask_user(format!(
        "Deploy {service}? Release 41 is replaced by release 42 on 12 machines"
    ))
    .await?;
    Ok(format!(
        "{service} is out at {}%: {}",
        approval.percent, approval.approve
    ))
}

/// Runs so many steps before it asks.
#[mcp_task(ttl = "24h")]
async fn prepare(steps: u32) -> Result<String, ToolError> {
    let mut sum = 0;
    for n in 0..steps {
        sum += step_value(async { n }).key("add").await;
    }
    let approval: Approval = ask_user(format!("It is {sum}. Go on?")).await?;
    Ok(format!("{sum}: {}", approval.approve))
}

fn everything_in_memory() -> Limits {
    let mut limits = Limits::default();
    limits.resident = usize::MAX;
    limits
}

/// A server's runtime, and what a client that listens would be told.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(crate) runtime: Runtime,
    told: Arc<Told>,
}

impl Engine {
    pub(crate) fn start(
        store: impl TaskStore,
        with: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Self {
        let told = Arc::new(Told::default());
        let builder = Runtime::builder("bench", "1")
            .task(deploy)
            .task(prepare)
            // Unless a measurement is about it, nothing is parked.
            .park_after(Duration::from_secs(3600))
            .limits(everything_in_memory())
            .store(Listening::new(store, told.clone()));
        let runtime = with(builder).build().expect("it is put together");
        runtime.start();
        Self { runtime, told }
    }

    /// Calls the tool that asks at once.
    pub(crate) async fn create(&self) -> TaskId {
        self.call("deploy", r#"{"service":"billing"}"#).await
    }

    /// Calls the tool that runs so many steps first.
    pub(crate) async fn create_long(&self, steps: u32) -> TaskId {
        self.call("prepare", &format!(r#"{{"steps":{steps}}}"#))
            .await
    }

    async fn call(&self, tool: &str, arguments: &str) -> TaskId {
        let arguments: &RawValue = serde_json::from_str(arguments).expect("this is JSON");
        let capabilities = Capabilities {
            tasks: true,
            elicitation: ElicitationModes {
                form: true,
                url: false,
            },
            ..Capabilities::default()
        };
        let call = CallRequest {
            arguments: Some(arguments),
            caller: &Caller::anonymous(),
            capabilities,
            client: None,
            meta: None,
            retry: None,
            session: None,
            progress: None,
        };
        let tool = self.runtime.tool(tool).expect("it was registered");
        match self.runtime.call(tool, call).await {
            Ok(Called::Task(task)) => task.id.clone(),
            other => panic!("not a task: {other:?}"),
        }
    }

    pub(crate) async fn get(&self, id: &TaskId) -> Arc<Snapshot> {
        let found = self.runtime.get(id, &Caller::anonymous()).await;
        found.expect("the task is there")
    }

    pub(crate) async fn answer(&self, id: &TaskId) {
        let response: &RawValue = serde_json::from_str(ANSWER).expect("this is JSON");
        let key = InputKey::new(KEY);
        let answers = [Answer { key, response }];
        let updated = self
            .runtime
            .update(id, &Caller::anonymous(), &answers)
            .await;
        updated.expect("the answer fits");
    }

    /// Reads the task when its question is there.
    pub(crate) async fn asked(&self, id: &TaskId) {
        self.told.of(id).notified().await;
        assert_eq!(self.get(id).await.status(), TaskStatus::InputRequired);
    }

    /// Reads the task when it has ended.
    pub(crate) async fn finished(&self, id: &TaskId) -> Arc<Snapshot> {
        self.told.of(id).notified().await;
        let task = self.get(id).await;
        assert_eq!(task.status(), TaskStatus::Completed);
        self.told.forget(id);
        task
    }

    /// Calls, and reads the question when it is there.
    pub(crate) async fn create_and_see(&self) -> TaskId {
        let id = self.create().await;
        self.until_asked(&id).await;
        id
    }

    /// Waits for the question, and for nothing after that.
    pub(crate) async fn until_asked(&self, id: &TaskId) {
        self.asked(id).await;
        self.told.forget(id);
    }

    /// One question, from the call to the result.
    pub(crate) async fn round_trip(&self) {
        let id = self.create().await;
        self.asked(&id).await;
        self.answer(&id).await;
        self.finished(&id).await;
    }

    /// Cancels these tasks, and comes back when they have ended.
    pub(crate) async fn cancel(&self, tasks: &[TaskId]) {
        for id in tasks {
            let canceled = self.runtime.cancel(id, &Caller::anonymous()).await;
            canceled.expect("the task is there");
        }
        let mut resident = self.counts().await.1;
        while resident > 0 {
            tokio::task::yield_now().await;
            resident = self.counts().await.1;
        }
    }

    pub(crate) async fn journal(&self, id: &TaskId) -> Vec<Entry> {
        let journal = self.runtime.tasks().journal(id).await;
        let journal = journal.expect("the store answers").expect("it is live");
        journal.entries().to_vec()
    }

    /// How many commits have appended to journals, and how many functions are
    /// in memory.
    pub(crate) async fn counts(&self) -> (u64, u64) {
        let stats = self.runtime.tasks().stats().await;
        let stats = stats.expect("the store answers");
        (stats.store.commits, stats.resident)
    }
}
