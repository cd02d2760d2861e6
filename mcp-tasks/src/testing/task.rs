//! One task in a unit test.

use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::observed::{Observed, Record};
use crate::MemoryStore;
use crate::protocol::{Capabilities, ElicitationModes, InputRequest, ProtocolError, TaskStatus};
use crate::runtime::{CallRequest, Called, Runtime, RuntimeBuilder, TaskCall, Tool};
use crate::task::{Answer, Caller, Event, InputKey, Journal, Outcome, Snapshot, TaskId};

/// A task that a unit test drives: it answers the questions, lets time go by,
/// and crashes the server under the function.
///
/// ```
/// use mcp_tasks::prelude::*;
/// use mcp_tasks::testing::TestTask;
/// use serde_json::json;
///
/// #[mcp_task]
/// async fn greet(title: String) -> Result<String, ToolError> {
///     let name: String = ask_user("What is your name?").await?;
///     sleep(Duration::from_secs(3600)).await;
///     Ok(format!("Hello, {title} {name}!"))
/// }
///
/// # /*
/// #[tokio::test(start_paused = true)]
/// # */
/// # #[tokio::main(flavor = "current_thread")]
/// async fn greets_after_an_hour_and_a_crash() {
///     # return; // time is not paused in an example
///     let mut task = TestTask::start(greet("Dr.".to_owned())).await;
///     task.asked("name").await;
///     task.crash().await;
///     task.answer("name", json!({"answer": "Luca"})).await;
///     assert_eq!(task.result().await.text(), "Hello, Dr. Luca!");
/// }
/// # greets_after_an_hour_and_a_crash();
/// ```
///
/// Time is tokio's: with `#[tokio::test(start_paused = true)]` hours go by in no
/// time, as soon as everything waits for them.
///
/// # Panics
///
/// Its methods panic with words where a test has failed: when a question that is
/// waited for can no longer come, when an answer does not fit.
pub struct TestTask {
    server: Server,
    /// One life of the server.
    runtime: Runtime,
    id: TaskId,
}

/// What comes back after a crash.
struct Server {
    tool: Arc<Tool>,
    store: MemoryStore,
    record: Record,
    clock: (SystemTime, Instant),
    setup: Setup,
}

/// What a test adds to the server.
type Setup = Box<dyn Fn(RuntimeBuilder) -> RuntimeBuilder + Send + Sync>;

#[allow(clippy::missing_panics_doc, reason = "said once, on the type")]
impl TestTask {
    /// Starts a task of a call: `deploy(args..)`, with parameters of type
    /// [`State`](crate::State) given as they are.
    ///
    /// A function whose arguments can all be cloned can be started again after
    /// a [`crash`](Self::crash).
    pub async fn start<Args, C: TaskCall<Args>>(call: C) -> Self {
        Self::start_on(call, |server| server).await
    }

    /// Starts a task on a server that is set up further.
    pub async fn start_on<Args, C: TaskCall<Args>>(
        call: C,
        setup: impl Fn(RuntimeBuilder) -> RuntimeBuilder + Send + Sync + 'static,
    ) -> Self {
        let server = Server {
            tool: Arc::new(Tool::of_call(call)),
            store: MemoryStore::new(),
            record: Record::default(),
            clock: (SystemTime::now(), Instant::now()),
            setup: Box::new(setup),
        };
        let runtime = server.start();
        let id = begin(&runtime).await;
        Self {
            server,
            runtime,
            id,
        }
    }

    /// The task's id.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The task as a client sees it now.
    pub async fn get(&self) -> Arc<Snapshot> {
        let task = self.runtime.get(&self.id, &Caller::anonymous()).await;
        task.unwrap_or_else(|error| panic!("the task is not there: {}", error.message))
    }

    /// Waits until the task asks a question under this key.
    pub async fn asked(&self, key: &str) -> InputRequest {
        let task = self
            .until(|task| {
                task.is_terminal() || task.held.is_some() || question(task, key).is_some()
            })
            .await;
        question(&task, key)
            .unwrap_or_else(|| panic!("`{key}` was never asked: {}", describe(&task)))
            .clone()
    }

    /// Waits for the question, and accepts it with this content: an object with
    /// a member for each field, `{"answer": ..}` for a question of one value.
    pub async fn answer(&self, key: &str, content: impl Serialize) {
        let content = serde_json::to_value(content).expect("the content is JSON");
        self.respond(key, &json!({"action": "accept", "content": content}))
            .await;
    }

    /// Waits for the question, and declines it.
    pub async fn decline(&self, key: &str) {
        self.respond(key, &json!({"action": "decline"})).await;
    }

    /// Waits for the question, and dismisses it.
    pub async fn dismiss(&self, key: &str) {
        self.respond(key, &json!({"action": "cancel"})).await;
    }

    async fn respond(&self, key: &str, response: &Value) {
        self.asked(key).await;
        let response: Box<RawValue> = to_raw_value(response).expect("a response is JSON");
        let (caller, answers) = (
            Caller::anonymous(),
            [Answer {
                key: InputKey::new(key),
                response: &response,
            }],
        );
        let updated = self.runtime.update(&self.id, &caller, &answers).await;
        updated.unwrap_or_else(|error| panic!("{}", error.message));
    }

    /// Fulfils a signal, whether or not the function waits for it yet.
    pub async fn signal(&self, name: &str, value: impl Serialize) {
        let sent = self.runtime.tasks().signal(&self.id, name, &value).await;
        sent.unwrap_or_else(|error| panic!("{}", error.message));
    }

    /// Asks for cancellation.
    pub async fn cancel(&self) {
        let cancelled = self.runtime.cancel(&self.id, &Caller::anonymous()).await;
        cancelled.unwrap_or_else(|error| panic!("{}", error.message));
    }

    /// Kills the server where it stands, and starts another on what it has left
    /// behind. The function is run again from the top.
    pub async fn crash(&mut self) {
        let crashed = self.runtime.crash().await;
        crashed.expect("a store in memory does not fail");
        self.runtime = self.server.start();
    }

    /// The messages that the function has set so far, in order. One that
    /// another follows before the function waits is passed over, as clients
    /// never see it.
    pub fn statuses(&self) -> Vec<String> {
        self.server.record.all(|event| match event {
            Event::Status { message, .. } => message.as_deref().map(str::to_owned),
            _ => None,
        })
    }

    /// The keys of the steps that have run so far, in the order in which they
    /// ended. A step that a crash has cut off is here once it has run again.
    pub fn steps(&self) -> Vec<String> {
        self.server.record.all(|event| match event {
            Event::StepDone { key, .. } => Some(key.to_string()),
            _ => None,
        })
    }

    /// What has been recorded so far; `None` once the task has ended.
    pub async fn journal(&self) -> Option<Journal> {
        let journal = self.runtime.tasks().journal(&self.id).await;
        journal.unwrap_or_else(|error| panic!("{}", error.message))
    }

    /// Waits until the task is as described; gives it as it is then.
    pub async fn until(&self, wanted: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        let mut changes = self.server.store.changes();
        loop {
            changes.mark_unchanged();
            let task = self.get().await;
            if wanted(&task) {
                return task;
            }
            // The store lives as long as this does.
            let _ = changes.changed().await;
        }
    }

    /// Waits for the end of the task.
    ///
    /// # Panics
    ///
    /// If it waits for an answer instead, or is held.
    pub async fn result(&self) -> TestResult {
        let task = self
            .until(|task| {
                task.is_terminal()
                    || task.held.is_some()
                    || task.status() == TaskStatus::InputRequired
            })
            .await;
        assert!(task.is_terminal(), "it has not ended: {}", describe(&task));
        TestResult(task)
    }
}

impl std::fmt::Debug for TestTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestTask")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Server {
    fn start(&self) -> Runtime {
        let builder = Runtime::builder("test", "0")
            .tool(self.tool.clone())
            .store(Observed {
                inner: self.store.share(),
                record: self.record.clone(),
            })
            .tokio_clock(self.clock.0, self.clock.1);
        let runtime = (self.setup)(builder)
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        runtime.start();
        runtime
    }
}

async fn begin(runtime: &Runtime) -> TaskId {
    let capabilities = Capabilities {
        tasks: true,
        elicitation: ElicitationModes {
            form: true,
            url: false,
        },
        ..Capabilities::default()
    };
    let call = CallRequest {
        arguments: None,
        caller: &Caller::anonymous(),
        capabilities,
        client: None,
        meta: None,
        retry: None,
        session: None,
    };
    let tool = runtime.tools().next().expect("the server has one tool");
    match runtime.call(tool, call).await {
        Ok(Called::Task(task)) => task.id.clone(),
        Ok(Called::Result(_) | Called::InputRequired(_)) => {
            panic!("the tool never becomes a task: call it by itself")
        }
        Err(error) => panic!("{}", error.message),
    }
}

fn question<'a>(task: &'a Snapshot, key: &str) -> Option<&'a InputRequest> {
    let mut questions = task.input_requests.iter();
    questions
        .find(|(asked, _)| asked.as_str() == key)
        .map(|(_, request)| request)
}

fn describe(task: &Snapshot) -> String {
    let questions: Vec<_> = task
        .input_requests
        .iter()
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    let message = task.status_message().unwrap_or_default();
    match (&task.outcome, questions.is_empty()) {
        (None, false) => format!("it waits for {}. {message}", questions.join(", ")),
        (None, true) => format!("it works. {message}"),
        (Some(outcome), _) => format!("it ended as {outcome:?}"),
    }
}

/// How a task under test has ended.
#[derive(Clone, Debug)]
pub struct TestResult(Arc<Snapshot>);

impl TestResult {
    /// The task as a client sees it.
    pub fn task(&self) -> &Snapshot {
        &self.0
    }

    /// Whether it completed with an error of the tool.
    ///
    /// # Panics
    ///
    /// If it did not complete.
    pub fn is_error(&self) -> bool {
        self.json()["isError"] == json!(true)
    }

    /// The error, if the task failed.
    pub fn error(&self) -> Option<&ProtocolError> {
        match &self.0.outcome {
            Some(Outcome::Failed { error }) => Some(error),
            _ => None,
        }
    }

    /// The text of the result.
    ///
    /// # Panics
    ///
    /// If the task did not complete.
    pub fn text(&self) -> String {
        let json = self.json();
        let blocks = json["content"].as_array();
        let texts = blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str());
        texts.collect()
    }

    /// The structured content of the result.
    ///
    /// # Panics
    ///
    /// If the task did not complete, or its content is not a `T`.
    pub fn structured<T: DeserializeOwned>(&self) -> T {
        let content = self.json()["structuredContent"].clone();
        serde_json::from_value(content).unwrap_or_else(|error| panic!("{error}: {:?}", self.0))
    }

    fn json(&self) -> Value {
        match &self.0.outcome {
            Some(Outcome::Completed { result }) => {
                serde_json::from_str(result.get()).expect("a result is JSON")
            }
            _ => panic!("it did not complete: {}", describe(&self.0)),
        }
    }
}
