//! A call: the handle that whoever called holds, and the driver behind it.

mod asking;
mod driver;
mod follow;
mod following;
mod listen;
mod open;
mod pace;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot, watch};

use super::wire::TaskSeen;
use super::{Answer, CallError, CallOptions, CallState, Inner, Question, States};
use crate::protocol::ToolResult;
use driver::Driver;
pub(super) use pace::{DEFAULT_INTERVAL, back_off};

type Outcome = Result<ToolResult, CallError>;

/// A call under way.
///
/// A future of its result, which can be awaited as `call.await` or, to go on with
/// the handle when questions are handed back, as `(&mut call).await`. The call is
/// driven by a task of the runtime's, whether it is awaited or not.
///
/// ```no_run
/// # use mcp_tasks::client::{Answer, CallError, TaskClient};
/// # async fn watch(client: TaskClient) -> Result<(), CallError> {
/// let call = client.call("deploy", serde_json::json!({ "service": "billing" }));
/// let mut states = call.states();
/// while let Some(state) = states.next().await {
///     println!("{:?} {}", state.status, state.message.unwrap_or_default());
///     for question in state.questions {
///         call.answer(&question.key, Answer::decline()).await?;
///     }
/// }
/// let result = call.await?;
/// # Ok(()) }
/// ```
///
/// # Cancellation
///
/// Dropping it cancels the call, and the task that it has become. That is done in
/// the background, as far as the runtime and the server live for it;
/// [`cancel`](Self::cancel) says when the server has taken note. A call whose
/// questions were handed back ([`CallError::Unanswered`]) is not cancelled when
/// it is dropped, until it is used again.
#[must_use = "a call is cancelled when it is dropped"]
pub struct Call {
    handle: Handle,
    outcome: Pin<Box<dyn Future<Output = Step> + Send + Sync>>,
}

/// What the driver hears of.
struct Handle {
    commands: mpsc::UnboundedSender<Command>,
    states: watch::Receiver<CallState>,
    /// Whether the task outlives the handle.
    detached: Arc<AtomicBool>,
    /// Whether somebody is there to answer.
    is_attended: bool,
}

/// What the handle asks of the driver.
enum Command {
    Answer {
        key: Arc<str>,
        answer: Answer,
        done: oneshot::Sender<Result<(), CallError>>,
    },
    Cancel {
        done: oneshot::Sender<Result<(), CallError>>,
    },
}

/// What awaiting comes to; with what is needed to await again.
enum Step {
    Done(Outcome),
    Asked(Vec<Question>, oneshot::Receiver<Outcome>),
    Gone,
}

impl Call {
    pub(super) fn start(
        inner: &Arc<Inner>,
        tool: Arc<str>,
        arguments: Result<Box<RawValue>, String>,
        options: CallOptions,
    ) -> Self {
        Self::spawn(inner, Some(tool), options, |driver, meta| async move {
            Box::pin(driver.call(arguments, meta)).await
        })
    }

    pub(super) fn resume(inner: &Arc<Inner>, id: Arc<str>, options: CallOptions) -> Self {
        Self::spawn(inner, None, options, |driver, _| async move {
            Box::pin(driver.resume(id)).await
        })
    }

    fn spawn<F>(
        inner: &Arc<Inner>,
        tool: Option<Arc<str>>,
        options: CallOptions,
        run: impl FnOnce(Driver, serde_json::Map<String, serde_json::Value>) -> F,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let (commands, received) = mpsc::unbounded_channel();
        let (state, states) = watch::channel(CallState::new());
        let (send, outcome) = oneshot::channel();
        let detached = Arc::new(AtomicBool::new(false));
        let answers = options.answers.or_else(|| inner.settings.answers.clone());
        let is_attended = answers.is_some();
        let driver = Driver::new(
            Arc::clone(inner),
            tool,
            answers,
            options.deadline.or(inner.settings.deadline),
            state,
            received,
            Arc::clone(&detached),
        );
        let running = run(driver, options.meta);
        tokio::spawn(async move {
            // Nobody waits for it if the handle was dropped.
            let _ = send.send(running.await);
        });
        let handle = Handle {
            commands,
            states,
            detached,
            is_attended,
        };
        Self {
            outcome: handle.wait(outcome),
            handle,
        }
    }

    /// The task's id, once the call is a task.
    pub fn id(&self) -> Option<Arc<str>> {
        self.handle.states.borrow().id.clone()
    }

    /// How the call gets on.
    pub fn state(&self) -> CallState {
        self.handle.states.borrow().clone()
    }

    /// How the call gets on: its state now, then each that it changes to.
    pub fn states(&self) -> States {
        States::new(self.handle.states.clone())
    }

    /// Answers a question that is open. Returns when the server has taken the
    /// answer, and it is durable, as far as the server is.
    ///
    /// # Errors
    ///
    /// [`CallError::Refused`] if the answer does not fit: the question is still
    /// open. [`CallError::NotOpen`] if there is no such question,
    /// [`CallError::Ended`] if the call has ended.
    ///
    /// # Cancellation
    ///
    /// The answer is sent all the same.
    pub async fn answer(&self, key: &str, answer: Answer) -> Result<(), CallError> {
        let key = key.into();
        self.handle
            .ask(|done| Command::Answer { key, answer, done })
            .await
    }

    /// Says no to a question.
    ///
    /// # Errors
    ///
    /// As those of [`answer`](Self::answer).
    pub async fn decline(&self, key: &str) -> Result<(), CallError> {
        self.answer(key, Answer::decline()).await
    }

    /// Closes a question without choosing.
    ///
    /// # Errors
    ///
    /// As those of [`answer`](Self::answer).
    pub async fn dismiss(&self, key: &str) -> Result<(), CallError> {
        self.answer(key, Answer::dismiss()).await
    }

    /// Cancels the call. Returns when the server has taken note; awaiting the call
    /// then gives [`CallError::Cancelled`], or the result, if the task was done
    /// before, or ends by itself while it cleans up.
    ///
    /// # Errors
    ///
    /// [`CallError::Ended`] if the call has ended; [`CallError::Client`] if the
    /// server cannot be reached.
    pub async fn cancel(&self) -> Result<(), CallError> {
        self.handle.ask(|done| Command::Cancel { done }).await
    }

    /// Lets the task live on, and gives its id, for
    /// [`TaskClient::resume`](super::TaskClient::resume). Answers that are on their
    /// way are sent in the background.
    ///
    /// # Errors
    ///
    /// Gives the call back if it is no task (yet).
    #[allow(clippy::result_large_err, reason = "the error is the call itself")]
    pub fn detach(self) -> Result<Arc<str>, Self> {
        match self.id() {
            Some(id) => {
                self.handle.detached.store(true, Ordering::Release);
                Ok(id)
            }
            None => Err(self),
        }
    }
}

impl Handle {
    async fn ask(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<(), CallError>>) -> Command,
    ) -> Result<(), CallError> {
        self.detached.store(false, Ordering::Release);
        let (done, outcome) = oneshot::channel();
        self.commands
            .send(command(done))
            .map_err(|_| CallError::Ended)?;
        outcome.await.unwrap_or(Err(CallError::Ended))
    }

    /// Waits for the outcome, or for a question if there is nobody to answer it.
    fn wait(
        &self,
        mut outcome: oneshot::Receiver<Outcome>,
    ) -> Pin<Box<dyn Future<Output = Step> + Send + Sync>> {
        let mut states = self.states.clone();
        let is_attended = self.is_attended;
        Box::pin(async move {
            loop {
                if let Ok(outcome) = outcome.try_recv() {
                    return Step::Done(outcome);
                }
                let questions = states.borrow_and_update().questions.clone();
                if !is_attended && !questions.is_empty() {
                    return Step::Asked(questions, outcome);
                }
                tokio::select! {
                    biased;
                    outcome = &mut outcome => {
                        return outcome.map_or(Step::Gone, Step::Done);
                    }
                    Ok(()) = states.changed() => {}
                }
            }
        })
    }
}

impl Future for Call {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let Poll::Ready(step) = self.outcome.as_mut().poll(context) else {
            return Poll::Pending;
        };
        Poll::Ready(match step {
            Step::Done(outcome) => {
                self.outcome = Box::pin(std::future::ready(Step::Gone));
                outcome
            }
            Step::Gone => {
                self.outcome = Box::pin(std::future::ready(Step::Gone));
                Err(CallError::Ended)
            }
            Step::Asked(questions, outcome) => {
                self.handle.detached.store(true, Ordering::Release);
                self.outcome = self.handle.wait(outcome);
                let id = self.id();
                Err(CallError::Unanswered { id, questions })
            }
        })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("state", &*self.handle.states.borrow())
            .finish_non_exhaustive()
    }
}

/// A task's state, as it was seen.
pub(super) fn state_of(seen: TaskSeen, tool: Option<&Arc<str>>) -> CallState {
    let questions = seen.questions.into_iter().map(|(key, kind)| Question {
        key,
        task: Some(Arc::clone(&seen.id)),
        tool: tool.cloned(),
        kind,
    });
    CallState {
        questions: questions.collect(),
        id: Some(seen.id),
        status: seen.status,
        message: seen.message,
        progress: seen.progress,
        created_at: seen.created_at,
        ttl: seen.ttl_ms.map(Duration::from_millis),
        poll_interval: seen.poll_interval.unwrap_or(DEFAULT_INTERVAL),
        trouble: None,
    }
}

/// The parameters of `tasks/update` with one answer.
pub(super) struct Update<'a> {
    id: &'a str,
    key: &'a str,
    answer: &'a Answer,
}

impl<'a> Update<'a> {
    pub(super) fn new(id: &'a str, key: &'a str, answer: &'a Answer) -> Self {
        Self { id, key, answer }
    }
}

impl Serialize for Update<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct One<'a>(&'a str, &'a Answer);
        impl Serialize for One<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map([(self.0, self.1)])
            }
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("taskId", self.id)?;
        map.serialize_entry("inputResponses", &One(self.key, self.answer))?;
        map.end()
    }
}
