//! Runs tasks: the tools of a server, the functions that are under way, the
//! clock that ends them.
//!
//! A task's function runs in a driver of its own. Whoever changes a task from
//! outside (an answer, a cancellation, time) changes it in the store and then
//! pokes the driver, which reads what it has missed. What one task costs does
//! not depend on how many others there are: there is no list to sweep, and a
//! task that waits is one parked future.

mod builder;
mod call;
mod clock;
mod described;
mod driver;
mod enlisting;
mod ids;
mod keeper;
mod known;
mod lease;
mod limits;
mod listing;
mod methods;
mod output;
#[cfg(feature = "http")]
mod people;
mod plain;
mod resume;
mod rounds;
mod rules;
mod running;
mod seating;
mod seats;
mod shutdown;
mod signature;
mod tasks;
mod tool;
mod turns;
mod updates;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{OnceCell, RwLock};
use tokio_util::sync::CancellationToken;

pub use builder::RuntimeBuilder;
pub use call::CallRequest;
pub use driver::{Asking, ProgressSink, ProgressUpdate, SessionAnswer, SessionClient, Telling};
pub use limits::Limits;
pub(crate) use limits::limit_reached;
pub use listing::TaskFilter;
pub use methods::{Methods, TaskMethods, TaskOwner};
pub use output::Called;
#[cfg(feature = "http")]
pub(crate) use people::{Changes, Heard};
pub use plain::{PlainArgument, PlainArguments, plain_schema};
pub use resume::Mismatch;
pub(crate) use resume::check;
pub use rounds::{InputRequired, Retry};
pub(crate) use seats::{Full, Room, Seat, Seats};
pub use signature::{
    AnyType, Argument, Of, Whole, argument, default_of_type, with_fraction, with_items, with_length,
};
pub use tasks::{Stats, Tasks};
pub use tool::{CallContext, DecodeError, Definition, Extractor, Support, TaskCall, TaskFn, Tool};
pub use updates::TaskUpdates;
pub(crate) use watch::Watch;

use crate::flow::States;
use crate::store::{Server, StoreError, TaskStore};
use crate::task::{Caller, Timestamp};
use clock::Clock;
use ids::Ids;
use keeper::{Agenda, Loops};
use known::{KnownTasks, MissedCalls};
use lease::{Epoch, Lease};
use rounds::Sealer;
use running::Running;
use seating::Seating;
use watch::Watchers;

/// The tools of one server and their running tasks; a cheap handle.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

/// What every handle and every driver of one runtime share.
struct Shared {
    server_info: Value,
    /// The newest version of each, in the order of registration.
    tools: Vec<Arc<Tool>>,
    /// Versions that calls no longer go to.
    older: Vec<Arc<Tool>>,
    /// The names and versions of all of them.
    versions: Vec<(Arc<str>, u32)>,
    states: States,
    store: Arc<dyn TaskStore>,
    server: Server,
    limits: Limits,
    park_after: Duration,
    max_recoveries: u32,
    ids: Ids,
    clock: Clock,
    known: Arc<KnownTasks>,
    watchers: Arc<Watchers>,
    agenda: Arc<Agenda>,
    lease: Lease,
    /// Whether the store knows this server.
    enlisted: OnceCell<()>,
    /// Whoever claims reads this; to begin anew under another lease is to write.
    identity: RwLock<()>,
    /// Who finds their questions in an inbox.
    inbox: Inbox,
    /// Calls that have no reply yet.
    calls: Arc<Seats>,
    /// Functions that run rather than wait.
    running: Arc<Running>,
    /// Those of which only so many may run at once, in all processes.
    seating: Arc<Seating>,
    /// Seals the state of calls that ask their clients in rounds.
    sealer: Sealer,
    loops: Loops,
    /// Fires when the server is to end in good order.
    stop: CancellationToken,
}

impl Runtime {
    /// A runtime for a server of this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> RuntimeBuilder {
        RuntimeBuilder::new(name.into(), version.into())
    }

    /// The tools, in the order in which they were registered; of each the
    /// newest version.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.shared.tools.iter().map(AsRef::as_ref)
    }

    /// The tool of this name, in its newest version.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().find(|tool| tool.name() == name)
    }

    /// Starts what the runtime does of its own accord: taking up the tasks of
    /// earlier processes, and what time makes due. Needs tokio; without it, the
    /// first call starts it.
    pub fn start(&self) {
        self.shared.start();
    }

    /// Drops every function where it stands and stops all work: what is left is
    /// what a killed process leaves. For tests.
    ///
    /// # Errors
    ///
    /// Whatever the store says.
    #[doc(hidden)]
    pub async fn crash(&self) -> Result<(), StoreError> {
        self.stop();
        // The holder that had the tasks is no more.
        let shared = &self.shared;
        shared.store.enlist(&shared.server, shared.now()).await
    }

    /// Stops all work, before anything runs on; what ran keeps its claims.
    pub(crate) fn stop(&self) {
        self.shared.stop();
    }

    /// What [`stop`](Self::stop) does, without keeping the runtime alive.
    pub(crate) fn stopper(&self) -> impl Fn() + Send + Sync + use<> {
        let shared = Arc::downgrade(&self.shared);
        move || {
            if let Some(shared) = shared.upgrade() {
                shared.stop();
            }
        }
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The server's name and version, as they stand in every result's `_meta`.
    pub fn server_info(&self) -> &Value {
        &self.shared.server_info
    }

    /// Whether tasks outlive the process.
    pub fn is_durable(&self) -> bool {
        self.shared.store.is_durable()
    }

    /// Whether calls that ask in rounds can go on in another process.
    pub fn seals_for_good(&self) -> bool {
        self.is_durable() || self.shared.sealer.has_secrets()
    }

    /// The handle for the server's own code.
    pub fn tasks(&self) -> Tasks {
        Tasks::new(&self.shared)
    }
}

/// Who finds questions in an inbox of the server's, whatever their client can
/// show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Inbox {
    /// There is none.
    #[default]
    Nobody,
    /// Callers with a name.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "an inbox is a page")
    )]
    Authenticated,
    /// Everybody.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "an inbox is a page")
    )]
    Anybody,
}

impl Inbox {
    pub(crate) fn is_for(self, caller: &Caller) -> bool {
        match self {
            Self::Nobody => false,
            Self::Authenticated => !caller.is_anonymous(),
            Self::Anybody => true,
        }
    }
}

/// How things stood before a task was claimed: whoever runs it under the claim
/// must hear of everything since.
#[derive(Clone, Copy)]
struct Mark {
    calls: MissedCalls,
    epoch: Epoch,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.watchers.close();
    }
}

impl Shared {
    fn mark(&self) -> Mark {
        Mark {
            calls: self.known.missed_calls(),
            epoch: self.lease.epoch(),
        }
    }

    fn stop(&self) {
        self.loops.stop();
        self.lease.lose();
        self.known.poke_all();
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The code of a tool in one of its versions.
    fn tool_of(&self, name: &str, version: u32) -> Option<&Tool> {
        let mut tools = self.tools.iter().chain(&self.older).map(AsRef::as_ref);
        tools.find(|tool: &&Tool| tool.name() == name && tool.definition.version == version)
    }
}

/// How long to wait before asking a store again that could not answer.
const RETRY_MS: u64 = 1000;

/// The words for a store that could not do what a client asked.
fn store_failed(error: &StoreError) -> crate::protocol::ProtocolError {
    use crate::protocol::ProtocolError;
    match error {
        StoreError::Full(words) => limit_reached("live", ProtocolError::internal(words.clone())),
        StoreError::Unavailable(_) | StoreError::Unsure(_) | StoreError::Damaged { .. } => {
            tracing::error!(%error, "the store failed");
            ProtocolError::internal("the task store is not available right now, try again later")
        }
    }
}
