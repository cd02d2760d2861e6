//! How a client is put together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientCapabilities, Implementation};
use serde_json::{Map, Value, json};

use super::answer::AnyAnswers;
use super::link::{Launch, Link, Log, Route, Show};
use super::{Answers, ClientError, Direction, TaskBook, TaskClient};
use crate::protocol::{InputKind, TASKS_EXTENSION};

/// How long nothing need be heard of a server.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client in the making: see [`TaskClient::builder`].
#[must_use = "it is finished with `connect_stdio`, `connect_http` or `from_peer`"]
pub struct ClientBuilder {
    name: String,
    version: String,
    answers: Option<Arc<dyn AnyAnswers>>,
    kinds: Vec<InputKind>,
    book: Option<TaskBook>,
    deadline: Option<Duration>,
    patience: Duration,
    #[cfg_attr(not(feature = "client"), allow(dead_code))]
    headers: Vec<(String, String)>,
    log: Option<Log>,
    messages: Option<Show>,
}

/// What all calls of a client have in common.
pub(super) struct Settings {
    pub(super) answers: Option<Arc<dyn AnyAnswers>>,
    pub(super) book: Option<TaskBook>,
    pub(super) deadline: Option<Duration>,
    pub(super) patience: Duration,
}

/// What is different for one call.
#[derive(Default)]
#[must_use = "it is given to `call_with` or `resume_with`"]
pub struct CallOptions {
    pub(super) answers: Option<Arc<dyn AnyAnswers>>,
    pub(super) deadline: Option<Duration>,
    pub(super) meta: Map<String, Value>,
}

impl CallOptions {
    /// As the client has it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Who answers the questions of this call. The kinds that may be asked stay
    /// those of the client.
    pub fn answers(mut self, answers: impl Answers) -> Self {
        self.answers = Some(Arc::new(answers));
        self
    }

    /// How long the call may take, with everything.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Adds to the `_meta` of the call, as `traceparent`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("book", &self.book)
            .field("deadline", &self.deadline)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may be secrets.
        f.debug_struct("ClientBuilder")
            .field("name", &self.name)
            .field("kinds", &self.kinds)
            .field("book", &self.book)
            .finish_non_exhaustive()
    }
}

impl ClientBuilder {
    pub(super) fn new() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            answers: None,
            kinds: vec![InputKind::Form, InputKind::Url],
            book: None,
            deadline: None,
            patience: PATIENCE,
            headers: Vec::new(),
            log: None,
            messages: None,
        }
    }

    /// What the client calls itself.
    pub fn identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Who answers questions; see there for what happens without.
    pub fn answers(mut self, answers: impl Answers) -> Self {
        self.kinds = answers.kinds();
        self.answers = Some(Arc::new(answers));
        self
    }

    /// Writes open tasks down, so that they can be resumed after a crash.
    pub fn book(mut self, book: TaskBook) -> Self {
        self.book = Some(book);
        self
    }

    /// How long a call may take, with everything; no limit by default. When it is
    /// over, the call is cancelled.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// For how long nothing need be heard of the server before a call gives up
    /// with [`CallError::Lost`](super::CallError::Lost); two minutes by default. A
    /// server that is connected to must have said what it is by then, too, and within
    /// forty seconds at most.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends a header with each HTTP request. Its value is never shown.
    #[cfg(feature = "client")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends `Authorization: Bearer ..` with each HTTP request.
    #[cfg(feature = "client")]
    pub fn bearer_token(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Hands each line that a server writes to its stderr to `log`.
    pub fn log(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Shows every message to `show`, as it stands on the wire. Messages hold what
    /// people answer; headers are not among them.
    pub fn messages(mut self, show: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        self.messages = Some(Arc::new(show));
        self
    }

    /// See [`TaskClient::connect_stdio`].
    ///
    /// The command's program, arguments, environment and folder are used, each
    /// time that the server is started; its pipes are this crate's.
    ///
    /// # Errors
    ///
    /// [`ClientError::Connect`].
    pub async fn connect_stdio(
        mut self,
        command: impl Into<std::process::Command>,
    ) -> Result<TaskClient, ClientError> {
        let route = Route::Stdio(Launch::new(command.into()), self.log.take());
        self.connect(route).await
    }

    /// See [`TaskClient::connect_http`].
    ///
    /// # Errors
    ///
    /// [`ClientError::Connect`] and [`ClientError::Denied`].
    #[cfg(feature = "client")]
    pub async fn connect_http(self, url: impl Into<String>) -> Result<TaskClient, ClientError> {
        let address = super::address::HttpAddress::new(url.into(), &self.headers)?;
        self.connect(Route::Http(address)).await
    }

    /// See [`TaskClient::from_peer`].
    pub fn from_peer(self, peer: rmcp::service::Peer<rmcp::RoleClient>) -> TaskClient {
        self.finish(Route::Peer(peer))
    }

    /// Whether there is a server is known here, and not at the first call.
    async fn connect(self, route: Route) -> Result<TaskClient, ClientError> {
        let client = self.finish(route);
        client.server().await.map(|_| client)
    }

    fn finish(self, route: Route) -> TaskClient {
        let identity = Implementation::new(self.name, self.version);
        let link = Link::new(
            route,
            identity,
            capabilities(&self.kinds),
            self.messages,
            self.patience,
            self.answers.clone(),
        );
        let settings = Settings {
            answers: self.answers,
            book: self.book,
            deadline: self.deadline,
            patience: self.patience,
        };
        TaskClient::new(link, settings)
    }
}

/// What is declared with every request (P1, P21).
fn capabilities(kinds: &[InputKind]) -> ClientCapabilities {
    let mut declared = json!({ "extensions": { TASKS_EXTENSION: {} } });
    for kind in kinds {
        match kind {
            InputKind::Form => declared["elicitation"]["form"] = json!({}),
            InputKind::Url => declared["elicitation"]["url"] = json!({}),
            InputKind::Model => declared["sampling"] = json!({}),
            InputKind::Roots => declared["roots"] = json!({}),
        }
    }
    serde_json::from_value(declared).expect("capabilities as they are on the wire")
}
