//! The other side: calls tools, follows the tasks that the calls become, and has
//! their questions answered.
//!
//! ```no_run
//! use mcp_tasks::client::{Answer, Question, TaskClient};
//! use serde_json::json;
//!
//! # async fn call() -> Result<(), Box<dyn std::error::Error>> {
//! let client = TaskClient::builder()
//!     .answers(async |question: Question| {
//!         println!("{}", question.message());
//!         Answer::accept(json!({ "approve": true })).ok()
//!     })
//!     .connect_stdio(std::process::Command::new("deployer"))
//!     .await?;
//! let result = client.call("deploy", json!({ "service": "billing" })).await?;
//! println!("{}", result.to_text());
//! # Ok(()) }
//! ```
//!
//! A call is the same whatever it turns out to be: it may return at once, ask in
//! rounds (P60), become a task (P10) that is followed to its end, or, with a
//! server of an older session (P70), ask while it is open. Awaiting the [`Call`]
//! gives its result; [`Call::states`] shows how it gets on.
//!
//! # Questions
//!
//! Whoever implements [`Answers`] is shown each question once. Without one,
//! awaiting a call gives [`CallError::Unanswered`] as soon as something is asked;
//! [`Call::answer`] answers, and the call can be awaited again.
//!
//! # What is endured
//!
//! Lost replies, a server that is restarted, one that says when to come again
//! (`Retry-After`): a task is followed until it ends, as long as something is
//! heard of the server every two minutes ([`ClientBuilder::patience`]). It is
//! polled no more often than the server says, and with some jitter; with a server
//! that tells of its tasks by itself (`subscriptions/listen`, P40), seldom.
//!
//! A server that ends as often as it is started, or hangs up on those who listen, is
//! tried less and less often. A reply that cannot be one, or cannot be read, ends the
//! request that it should have answered; replies of over 64 MiB are not read.
//!
//! A `tools/call` is sent a second time only if the server has surely not
//! received the first: it may have begun to do what was asked.
//!
//! # After a crash
//!
//! With a [`TaskBook`] a client that was killed goes on where it was:
//! [`TaskClient::resume`] follows the task again, and puts no question twice.
//!
//! # Cancellation
//!
//! Dropping a [`Call`] cancels it, and the task with it, on the server too, as far
//! as the server can be reached; [`Call::detach`] lets the task live on.
//!
//! Everything here needs a tokio runtime with time enabled.

#[cfg(feature = "client")]
mod address;
mod answer;
mod book;
mod builder;
mod call;
mod error;
mod link;
mod question;
mod state;
mod tool;
mod wire;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use serde_json::value::to_raw_value;

pub use answer::{Answer, Answers};
pub use book::{BookEntry, ServerAddress, TaskBook};
pub use builder::{CallOptions, ClientBuilder};
pub use call::Call;
pub use error::{CallError, ClientError};
pub use link::Direction;
pub use question::{Question, QuestionKind};
pub use state::{CallState, Progress, States};
pub use tool::{TaskSupport, ToolInfo};

use builder::Settings;
use link::{Link, Trouble};

/// How long a server may take to reply to what it can answer at once.
const REPLY_LIMIT: Duration = Duration::from_secs(30);

/// How many pages of tools are read at most.
const PAGES: usize = 1000;

/// How often a request that does no harm twice is sent again.
const ATTEMPTS: u32 = 4;

/// A client of one server.
///
/// Clones share the connection, which ends with the last of them and of their
/// calls.
#[derive(Clone, Debug)]
pub struct TaskClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    link: Link,
    settings: Settings,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name; empty if it does not say.
    pub name: String,
    /// Its version; empty if it does not say.
    pub version: String,
    /// The protocol version that is spoken with it.
    pub protocol_version: String,
    /// Whether it declares the Tasks extension (P2).
    pub tasks: bool,
    /// What it tells those who use it.
    pub instructions: Option<String>,
}

impl TaskClient {
    /// A client with answers, a book, credentials and so on.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Starts a server as a child process, and speaks to it over its stdin and
    /// stdout. It is started again if it ends while something is waited for; its
    /// stderr goes where this program's goes.
    ///
    /// # Errors
    ///
    /// [`ClientError::Connect`].
    pub async fn connect_stdio(
        command: impl Into<std::process::Command>,
    ) -> Result<Self, ClientError> {
        Self::builder().connect_stdio(command).await
    }

    /// Speaks to a server over streamable HTTP, as at `http://localhost:8000/mcp`.
    ///
    /// # Errors
    ///
    /// [`ClientError::Connect`] and [`ClientError::Denied`].
    #[cfg(feature = "client")]
    pub async fn connect_http(url: impl Into<String>) -> Result<Self, ClientError> {
        Self::builder().connect_http(url).await
    }

    /// A client around a connection of rmcp's.
    ///
    /// It cannot be made again when it is lost, notifications go to the
    /// connection's own handler (so tasks are polled), and so do questions of
    /// older sessions. What the other side says has come through rmcp's types:
    /// fields of forms are in alphabetical order.
    ///
    /// What the client can be asked is what the connection declares. For tasks it
    /// must declare the extension: `ClientCapabilities::builder()` with
    /// `enable_extensions_with` and `io.modelcontextprotocol/tasks`.
    pub fn from_peer(peer: rmcp::service::Peer<rmcp::RoleClient>) -> Self {
        Self::builder().from_peer(peer)
    }

    fn new(link: Link, settings: Settings) -> Self {
        Self {
            inner: Arc::new(Inner { link, settings }),
        }
    }

    /// What the server says of itself. Connects again if the connection is lost.
    ///
    /// # Errors
    ///
    /// [`ClientError::Connect`] and [`ClientError::Denied`].
    pub async fn server(&self) -> Result<ServerInfo, ClientError> {
        let live = self.inner.link.live().await;
        live.map(|live| live.server.clone())
            .map_err(|trouble| trouble.into_error("server/discover"))
    }

    /// The number of the server's process, if this client has started it. It is
    /// another one when the server had to be started again.
    ///
    /// # Errors
    ///
    /// [`ClientError::Connect`].
    pub async fn server_process(&self) -> Result<Option<u32>, ClientError> {
        let live = self.inner.link.live().await;
        live.map(|live| live.process)
            .map_err(|trouble| trouble.into_error("server/discover"))
    }

    /// The server's tools, of all pages. Those whose description cannot be read, or
    /// that no client may call as they are described, are left out.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn tools(&self) -> Result<Vec<ToolInfo>, ClientError> {
        self.inner.tools().await
    }

    /// Calls a tool with the options of the client. The arguments are an object;
    /// `()` for none.
    ///
    /// The call is made at once, in a task of the runtime's; drop the [`Call`] to
    /// cancel it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn call(&self, tool: impl Into<Arc<str>>, arguments: impl Serialize) -> Call {
        self.call_with(tool, arguments, CallOptions::new())
    }

    /// Calls a tool with options of its own.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn call_with(
        &self,
        tool: impl Into<Arc<str>>,
        arguments: impl Serialize,
        options: CallOptions,
    ) -> Call {
        let arguments = to_raw_value(&arguments).map_err(|error| error.to_string());
        Call::start(&self.inner, tool.into(), arguments, options)
    }

    /// Follows a task that is there already: after a crash, after
    /// [`Call::detach`], or one of another client with the same caller.
    ///
    /// What the book says of its questions is respected: those that were answered
    /// are not put again, and answers that the server may not have are sent.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn resume(&self, id: impl Into<Arc<str>>) -> Call {
        self.resume_with(id, CallOptions::new())
    }

    /// The same with options of its own.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn resume_with(&self, id: impl Into<Arc<str>>, options: CallOptions) -> Call {
        Call::resume(&self.inner, id.into(), options)
    }

    /// Looks at a task once: `tasks/get`.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the code -32602 if there is no such task (of
    /// this caller's).
    pub async fn get(&self, id: &str) -> Result<CallState, ClientError> {
        let reply = self
            .inner
            .request("tasks/get", &json!({ "taskId": id }))
            .await?;
        wire::task(&reply).map(|seen| call::state_of(seen, None))
    }

    /// Answers a question of a task: `tasks/update`. Of a question that is not
    /// open nothing is heard (P22).
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the code -32602 if the answer does not fit,
    /// whose question is still open then, or if there is no such task.
    pub async fn answer(&self, id: &str, key: &str, answer: &Answer) -> Result<(), ClientError> {
        let method = "tasks/update";
        let params = call::Update::new(id, key, answer);
        let reply = self.inner.request(method, &params).await?;
        wire::acknowledged(method, &reply)
    }

    /// Cancels a task: `tasks/cancel`. When this returns the server has taken
    /// note; a task that cleans up first ends a little later.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with the code -32602 if there is no such task.
    pub async fn cancel(&self, id: &str) -> Result<(), ClientError> {
        let method = "tasks/cancel";
        let reply = self.inner.request(method, &json!({ "taskId": id })).await?;
        wire::acknowledged(method, &reply)
    }

    /// Ends the connection. A server that is a child process is given three
    /// seconds to end. Calls that are under way connect again.
    pub async fn close(self) {
        self.inner.link.close().await;
    }
}

impl Inner {
    async fn tools(&self) -> Result<Vec<ToolInfo>, ClientError> {
        let mut tools = Vec::new();
        let mut cursor = None;
        let mut seen = HashSet::new();
        loop {
            let params = match &cursor {
                Some(cursor) => json!({ "cursor": cursor }),
                None => json!({}),
            };
            let method = "tools/list";
            let page = self.request(method, &params).await?;
            let page: tool::Page = wire::complete(method, &page)?;
            let listed = page.tools();
            #[cfg(feature = "client")]
            let listed = listed.filter(|tool| self.may_be_called(tool));
            tools.extend(listed);
            // A server that gives a cursor again has no end, nor one that always has more.
            match page.next_cursor {
                Some(next) if seen.len() < PAGES && seen.insert(next.clone()) => {
                    cursor = Some(next);
                }
                _ => return Ok(tools),
            }
        }
    }

    #[cfg(feature = "client")]
    fn may_be_called(&self, tool: &ToolInfo) -> bool {
        let learnt = self.link.learn(tool);
        if let Err(problem) = &learnt {
            let name = &tool.name;
            tracing::warn!("the tool `{name}` is left out, for its `x-mcp-header`: {problem}");
        }
        learnt.is_ok()
    }

    /// Sends a request that does no harm if it is received twice, and sends it
    /// again if need be.
    async fn request(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<Arc<serde_json::value::RawValue>, ClientError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.request_once(method, params).await {
                Err(trouble) if trouble.is_passing() && attempt < ATTEMPTS => {
                    let pause = trouble.wait().unwrap_or_else(|| call::back_off(attempt));
                    tokio::time::sleep(pause.min(REPLY_LIMIT)).await;
                }
                reply => return reply.map_err(|trouble| trouble.into_error(method)),
            }
        }
    }

    async fn request_once(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<Arc<serde_json::value::RawValue>, Trouble> {
        let live = self.link.live().await?;
        live.request(method, params, REPLY_LIMIT).await
    }
}
