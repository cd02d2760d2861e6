//! Puts a runtime together, and says what is missing before anything runs.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::sync::{OnceCell, RwLock};
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::ids::Ids;
use super::keeper::Loops;
use super::lease::Lease;
use super::rounds::Sealer;
use super::running::Running;
use super::seating::Seating;
use super::{
    Inbox, Limits, Methods, Runtime, Shared, TaskFn, TaskMethods as _, TaskOwner, Tasks, Tool,
};
use crate::Error;
use crate::elicit::{self, Elicit, FormError};
use crate::flow::{Owner, States};
use crate::store::{MemoryStore, Server, TaskStore};
use crate::task::{Retention, Timestamp, millis};

/// Builds a [`Runtime`].
#[must_use = "a builder does nothing until it is built"]
pub struct RuntimeBuilder {
    name: String,
    version: String,
    tools: Vec<Arc<Tool>>,
    states: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    store: Option<Arc<dyn TaskStore>>,
    limits: Limits,
    retention: Retention,
    scope: String,
    build: Option<String>,
    lease: Duration,
    park_after: Duration,
    max_recoveries: u32,
    inbox: Inbox,
    clock: Clock,
    /// What seals; `None` for the keys in the store.
    state_keys: Option<Vec<Vec<u8>>>,
    /// What is wrong with types that will be asked for.
    unfit_forms: Vec<FormError>,
}

/// How long a process may run tasks without a sign of life.
const LEASE: Duration = Duration::from_secs(10);

/// How long a task waits in memory.
const PARK_AFTER: Duration = Duration::from_secs(30);

/// How often a task may bring a process down that resumes it alone.
const MAX_RECOVERIES: u32 = 5;

impl RuntimeBuilder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            name,
            version,
            tools: Vec::new(),
            states: HashMap::new(),
            store: None,
            limits: Limits::default(),
            retention: Retention::default(),
            scope: String::new(),
            build: None,
            lease: LEASE,
            park_after: PARK_AFTER,
            max_recoveries: MAX_RECOVERIES,
            inbox: Inbox::default(),
            clock: Clock::Host,
            state_keys: None,
            unfit_forms: Vec::new(),
        }
    }

    /// Adds a tool: a function marked `#[mcp_task]`.
    pub fn task<A, F: TaskFn<A>>(mut self, function: F) -> Self {
        // Only the function's type matters: calls are made from what clients send.
        drop(function);
        self.tools.push(Arc::new(Tool::new::<A, F::Call>()));
        self
    }

    /// Says that a task function asks for a `T`, so that what is wrong with its
    /// form is found by [`build`](Self::build) rather than by the first task
    /// that asks. A [`FromSchema<T>`](crate::elicit::FromSchema) that is written
    /// out in the body of a tool is known without.
    pub fn asks<T: Elicit>(mut self) -> Self {
        self.unfit_forms.extend(elicit::check::<T>().err());
        self
    }

    /// Adds every method marked `#[mcp_task]` of a value whose `impl` block is
    /// marked [`#[mcp_task_impl]`](crate::mcp_task_impl): the value itself, or an
    /// `Arc` of it. One of each type; a second takes the place of the first.
    pub fn tasks_of<O: TaskOwner>(mut self, owner: O) -> Self {
        let Methods(tools) = O::Owner::add_to(Methods::default());
        self.tools.extend(tools);
        self.state(Owner(owner.into_shared()))
    }

    /// Adds a tool that was made before.
    pub(crate) fn tool(mut self, tool: Arc<Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Gives task functions a value, for parameters of type `State<T>`. One of
    /// each type; a second takes the place of the first.
    pub fn state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Box::new(state));
        self
    }

    /// Keeps tasks in this store instead of in memory.
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Keeps ended tasks readable for so long, instead of until their ttl is
    /// over and at least five minutes.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = Retention::Millis(millis(retention));
        self
    }

    /// Divides servers of one name that share a store: they take over each
    /// other's tasks only within a scope. A takeover runs with the environment
    /// of the process that takes over.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Names the build of the server. A task that brought processes down is
    /// tried again by another build only. Default: the version, and when the
    /// program's file was written.
    pub fn build_id(mut self, build: impl Into<String>) -> Self {
        self.build = Some(build.into());
        self
    }

    /// How long a process that shares its store may run tasks without a sign of
    /// life, before others take them over; default 10 s. It gives a sign every
    /// third of that.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long a task waits in memory before only the store has it; default
    /// 30 s. Plays no part without a durable store.
    pub fn park_after(mut self, park_after: Duration) -> Self {
        self.park_after = park_after;
        self
    }

    /// How often a task may bring down a process that resumes it alone before
    /// it is held; default 5.
    pub fn max_recoveries(mut self, max_recoveries: u32) -> Self {
        self.max_recoveries = max_recoveries;
        self
    }

    /// Says who finds questions in an inbox of the server's.
    #[cfg(feature = "http")]
    pub(crate) fn inbox(mut self, inbox: Inbox) -> Self {
        self.inbox = inbox;
        self
    }

    /// Goes by tokio's clock, which tests can stop and wind, as if it had been
    /// `start` at a moment of that.
    #[doc(hidden)]
    pub fn tokio_clock(mut self, start: SystemTime, moment: tokio::time::Instant) -> Self {
        self.clock = Clock::with_tokio(start, moment);
        self
    }

    /// Seals what travels through clients with the first of these keys, and opens
    /// what any of them has sealed; each is at least 32 random bytes. To replace
    /// a key, put the new one in front, and take the old one out when its states
    /// are too old.
    ///
    /// Default: keys in the store, which are replaced every day. A store in
    /// memory loses them with the process.
    pub fn state_keys<K: AsRef<[u8]>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        let keys = keys.into_iter().map(|key| key.as_ref().to_vec());
        self.state_keys = Some(keys.collect());
        self
    }

    /// Replaces the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] naming what is wrong: a tool that is registered twice
    /// or lacks its state, or each type without a form that tools are known to
    /// ask for.
    pub fn build(mut self) -> Result<Runtime, Error> {
        self.check_forms()?;
        if self.lease < SHORTEST_LEASE {
            return Err(Error::Config(format!(
                "a lease of {:?} is too short: give it at least {SHORTEST_LEASE:?}",
                self.lease
            )));
        }
        #[cfg(feature = "metrics")]
        crate::observe::figures::describe();
        let sealer = match &self.state_keys {
            Some(secrets) => Sealer::with_secrets(secrets)?,
            None => Sealer::with_store(),
        };
        let mut versions = HashSet::new();
        let mut newest: HashMap<Arc<str>, u32> = HashMap::new();
        for tool in &self.tools {
            let (name, version) = (&tool.definition.name, tool.definition.version);
            if !versions.insert((name.clone(), version)) {
                return Err(Error::Config(format!(
                    "two tools are called `{name}`; give one of them `#[mcp_task(name = \"..\")]`, \
                     or another `version` if it is the same tool's newer code"
                )));
            }
            let newest = newest.entry(name.clone()).or_default();
            *newest = version.max(*newest);
        }
        let (tools, older): (Vec<_>, _) = self
            .tools
            .into_iter()
            .partition(|tool| newest.get(tool.name()) == Some(&tool.definition.version));
        let store = self
            .store
            .unwrap_or_else(|| Arc::new(MemoryStore::default()));
        let server = Server {
            build: self
                .build
                .unwrap_or_else(|| this_build(&self.version))
                .into(),
            name: self.name.as_str().into(),
            scope: self.scope.into(),
            lease_ms: millis(self.lease),
            retention: self.retention,
        };
        let server_info = json!({ "name": self.name, "version": self.version });
        let limited = tools.iter().filter_map(|tool| {
            let definition = &tool.definition;
            Some((definition.name.clone(), definition.concurrency?))
        });
        let limited = limited.collect();
        let shared = Arc::new_cyclic(|shared| {
            let tasks = Tasks::from_weak(shared.clone());
            self.states.insert(TypeId::of::<Tasks>(), Box::new(tasks));
            Shared {
                server_info,
                versions: versions.into_iter().collect(),
                tools,
                older,
                states: States::from_map(self.states),
                lease: Lease::new(store.is_durable()),
                clock: self.clock.or_that_of(&store),
                store,
                server,
                calls: Arc::default(),
                running: Running::new(self.limits.running.max(1)),
                seating: Seating::new(limited, self.limits.running_per_caller, shared.clone()),
                limits: self.limits,
                sealer,
                park_after: self.park_after,
                max_recoveries: self.max_recoveries,
                inbox: self.inbox,
                ids: Ids::default(),
                known: Arc::default(),
                watchers: Arc::default(),
                agenda: Arc::default(),
                enlisted: OnceCell::new(),
                identity: RwLock::default(),
                loops: Loops::default(),
                stop: CancellationToken::new(),
            }
        });
        for tool in shared.tools.iter().chain(&shared.older) {
            if let Err(missing) = tool.check(&shared.states) {
                return Err(Error::Config(format!("tool `{}`: {missing}", tool.name())));
            }
        }
        Ok(Runtime { shared })
    }
}

impl RuntimeBuilder {
    fn check_forms(&self) -> Result<(), Error> {
        let told = self.unfit_forms.iter().map(ToString::to_string);
        let of_tools = self.tools.iter().flat_map(|tool| {
            let unfit = tool.unfit_forms();
            unfit.map(|error| format!("tool `{}`: {error}", tool.name()))
        });
        let all: Vec<_> = told.chain(of_tools).collect();
        if all.is_empty() {
            Ok(())
        } else {
            Err(Error::Config(all.join("\n")))
        }
    }
}

/// The shortest lease that a heartbeat can keep on a busy machine.
const SHORTEST_LEASE: Duration = Duration::from_millis(100);

/// A name for the code that runs: the version, and when the program was
/// written.
fn this_build(version: &str) -> String {
    let written = std::env::current_exe()
        .and_then(std::fs::metadata)
        .and_then(|program| program.modified());
    match written {
        Ok(written) => format!("{version}+{}", Timestamp::from(written).as_millis()),
        Err(_) => version.to_owned(),
    }
}
