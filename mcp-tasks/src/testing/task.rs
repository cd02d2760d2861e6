//! One task in a unit test.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::observed::Record;
use super::server::{Machine, Server, Setup};
use super::{CrashPoint, TestResult};
use crate::MemoryStore;
use crate::protocol::{Capabilities, ElicitationModes, InputRequest, Root, TaskStatus};
use crate::runtime::{CallRequest, Called, Runtime, RuntimeBuilder, TaskCall, Tool};
use crate::task::{Answer, Caller, Event, InputKey, Journal, Snapshot, TaskId};

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
    id: TaskId,
}

#[allow(clippy::missing_panics_doc, reason = "said once, on the type")]
impl TestTask {
    /// Starts a task of a call: `deploy(args..)`, with parameters of type
    /// [`State`](crate::State) given as they are.
    ///
    /// A function whose arguments can all be cloned can be started again after
    /// a [`crash`](Self::crash).
    pub fn start<Args, C: TaskCall<Args>>(call: C) -> StartTask {
        StartTask {
            tool: Arc::new(Tool::of_call(call)),
            setup: Box::new(|server| server),
            crash: CrashPoint::never(),
        }
    }

    /// The task's id.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The task as a client sees it now.
    pub async fn get(&self) -> Arc<Snapshot> {
        let get = async |runtime: Runtime| runtime.get(&self.id, &Caller::anonymous()).await;
        let task = self.server.on(get).await;
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

    /// Waits for the URL, and agrees to open it.
    pub async fn agree(&self, key: &str) {
        self.respond(key, &json!({"action": "accept"})).await;
    }

    /// Waits for what a model is asked, and answers with this text.
    pub async fn answer_as_model(&self, key: &str, text: &str) {
        let message = json!({
            "role": "assistant",
            "content": {"type": "text", "text": text},
            "model": "test",
            "stopReason": "endTurn",
        });
        self.respond(key, &message).await;
    }

    /// Waits until the client's roots are asked for, and lists these.
    pub async fn answer_with_roots(&self, key: &str, roots: impl IntoIterator<Item = Root>) {
        let roots: Vec<Root> = roots.into_iter().collect();
        self.respond(key, &json!({ "roots": roots })).await;
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
        let update = async |runtime: Runtime| runtime.update(&self.id, &caller, &answers).await;
        let updated = self.server.on(update).await;
        updated.unwrap_or_else(|error| panic!("{}", error.message));
    }

    /// Fulfils a signal, whether or not the function waits for it yet.
    pub async fn signal(&self, name: &str, value: impl Serialize) {
        let signal = async |runtime: Runtime| runtime.tasks().signal(&self.id, name, &value).await;
        let sent = self.server.on(signal).await;
        sent.unwrap_or_else(|error| panic!("{}", error.message));
    }

    /// Asks for cancellation.
    pub async fn cancel(&self) {
        let cancel = async |runtime: Runtime| runtime.cancel(&self.id, &Caller::anonymous()).await;
        let cancelled = self.server.on(cancel).await;
        cancelled.unwrap_or_else(|error| panic!("{}", error.message));
    }

    /// Kills the server where it stands, and starts another on what it has left
    /// behind. The function is run again from the top.
    pub async fn crash(&mut self) {
        self.server.crash().await;
    }

    /// The messages that the function has set so far, in order. One that
    /// another follows before the function waits is passed over, as clients
    /// never see it.
    pub fn statuses(&self) -> Vec<String> {
        self.server.machine.record.all(|event| match event {
            Event::Status { message, .. } => message.as_deref().map(str::to_owned),
            _ => None,
        })
    }

    /// The keys of the steps that have run so far, in the order in which they
    /// ended. A step that a crash has cut off is here once it has run again.
    pub fn steps(&self) -> Vec<String> {
        self.server.machine.record.all(|event| match event {
            Event::StepDone { key, .. } => Some(key.to_string()),
            _ => None,
        })
    }

    /// What has been recorded so far; `None` once the task has ended.
    pub async fn journal(&self) -> Option<Journal> {
        let read = async |runtime: Runtime| runtime.tasks().journal(&self.id).await;
        let journal = self.server.on(read).await;
        journal.unwrap_or_else(|error| panic!("{}", error.message))
    }

    /// Waits until the task is as described; gives it as it is then.
    ///
    /// # Panics
    ///
    /// If it has ended otherwise.
    pub async fn until(&self, wanted: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        let mut changes = self.server.machine.store.changes();
        loop {
            changes.mark_unchanged();
            let task = self.get().await;
            if wanted(&task) {
                return task;
            }
            let is_over = task.is_terminal();
            assert!(!is_over, "it never was as waited for: {}", describe(&task));
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

/// A task that is about to be started, made by [`TestTask::start`].
#[must_use = "a task is started when this is awaited"]
pub struct StartTask {
    tool: Arc<Tool>,
    setup: Setup,
    crash: CrashPoint,
}

impl StartTask {
    /// Sets the server up further.
    pub fn on(
        mut self,
        setup: impl Fn(RuntimeBuilder) -> RuntimeBuilder + Send + Sync + 'static,
    ) -> Self {
        self.setup = Box::new(setup);
        self
    }

    /// Lets the server crash right after it has made so many commits, and
    /// another take up what it has left behind; or when
    /// [`crash_everywhere`](super::crash_everywhere) says.
    ///
    /// Commits are counted from 1, the task's creation. Each question, answer,
    /// step, timer and signal takes one, unless several are recorded together;
    /// so does the end, and the note that a function has come to wait. What the
    /// test is told (that an answer was taken, say) it is told before the crash;
    /// what it is about to do is done on the next server.
    pub fn crash_after(mut self, commits: impl Into<CrashPoint>) -> Self {
        self.crash = commits.into();
        self
    }

    async fn begin(self) -> TestTask {
        let server = Server::start(Machine {
            tool: self.tool,
            store: MemoryStore::new(),
            record: Record::default(),
            clock: (SystemTime::now(), Instant::now()),
            setup: self.setup,
            crash: self.crash,
        });
        let id = server
            .on(async |runtime: Runtime| begin(&runtime).await)
            .await;
        TestTask { server, id }
    }
}

impl IntoFuture for StartTask {
    type Output = TestTask;
    type IntoFuture = Pin<Box<dyn Future<Output = TestTask> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.begin())
    }
}

impl std::fmt::Debug for StartTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartTask").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TestTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestTask")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

async fn begin(runtime: &Runtime) -> TaskId {
    let capabilities = Capabilities {
        tasks: true,
        elicitation: ElicitationModes {
            form: true,
            url: true,
        },
        sampling: true,
        roots: true,
        inbox: false,
    };
    let call = CallRequest {
        arguments: None,
        caller: &Caller::anonymous(),
        capabilities,
        client: None,
        meta: None,
        retry: None,
        session: None,
        progress: None,
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

pub(super) fn describe(task: &Snapshot) -> String {
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
