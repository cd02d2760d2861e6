//! What a running function and its driver share.
//!
//! The function's futures register what they want as requests; the driver
//! takes the requests after each poll, records them, and puts outcomes into the
//! slots that the futures look at when they are polled next. Nothing here
//! wakes anybody: the driver polls the function after each delivery.

mod handle;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

pub use self::handle::Flow;
use super::replay::{Contradiction, Record, Replay};
use super::request::{Outcome, Request};
use crate::observe::TraceContext;
use crate::observe::story::Of;
use crate::protocol::Capabilities;
use crate::task::{
    Caller, Created, Entry, Event, InputKey, Progress, Seed, Snapshot, TaskId, Timestamp,
};

/// The state that a function and its driver share.
pub(crate) struct Context {
    pub(crate) id: TaskId,
    pub(crate) tool: Arc<str>,
    pub(crate) version: u32,
    pub(crate) trace: Option<Arc<TraceContext>>,
    pub(crate) caller: Caller,
    pub(crate) capabilities: Capabilities,
    pub(in crate::flow) seed: Seed,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    slots: HashMap<InputKey, Slot>,
    /// How often each key of the source was passed, by place where a key may
    /// stand at several.
    passes: HashMap<(InputKey, u32), u32>,
    /// Whose each scope is.
    scopes: HashMap<InputKey, ScopeOf>,
    requests: Vec<Request>,
    status: Status,
    ttl_ms: Option<u64>,
    cancelled: bool,
    /// Signals that nobody has taken yet, oldest first.
    signals: HashMap<Arc<str>, VecDeque<Arc<RawValue>>>,
    /// How many waits there are for others.
    listening: usize,
    /// When the outcome that was shown last was recorded.
    now: Timestamp,
    patches: Patches,
    steps: Steps,
    start: TaskStart,
    /// As long as the function is run through what is recorded.
    replay: Option<Box<Replay>>,
    /// What is left of it afterwards.
    dropped: Option<Box<Replay>>,
    /// Set when the driver lets go of the function: what the function drops
    /// from then on is not its own doing.
    detached: bool,
}

/// The sides that `patched` has taken.
#[derive(Default)]
struct Patches {
    /// What each gave in this run.
    decided: HashMap<Arc<str>, bool>,
    /// Those that the journal knows of.
    recorded: HashSet<Arc<str>>,
    /// Whether one waits to be recorded: no step starts before.
    wait: bool,
}

/// Whether `start_task()` still makes a difference.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TaskStart {
    /// No: it is a task, or will never be one.
    #[default]
    Settled,
    /// The function has not got there.
    Ahead,
    /// It has.
    Requested,
}

/// What runs inside the function.
#[derive(Default)]
struct Steps {
    /// Futures that nobody else could wake.
    running: usize,
    /// How many of these are steps.
    inside: usize,
    /// Whether a step waits for leave to start.
    wait: bool,
    may_start: bool,
    /// The step whose future is being polled.
    current: Option<InputKey>,
}

#[derive(Default)]
struct Status {
    message: Option<Arc<str>>,
    progress: Option<Progress>,
    changed: bool,
}

/// What a scope of keys belongs to. In branches of one name at different places
/// the macro lets no key stand twice; what two calls of flows have in them it
/// does not see.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeOf {
    Branches,
    /// The calls of flows at one place.
    Calls(u32),
    /// One call, under a key that was computed at run time.
    Call,
}

/// What became of a key. Keys stay known: none is used twice (P20).
enum Slot {
    Waiting,
    Step(StepWait),
    /// An `unrecorded` future; whether it has ended.
    Unrecorded(bool),
    Ready(Outcome),
    Gone,
}

/// A step without a result.
#[derive(Default)]
struct StepWait {
    /// How many attempts have failed.
    failed: u32,
    /// Whether the next attempt is not due yet.
    resting: bool,
    at_most_once: bool,
    intent: Intent,
    /// Whether its result waits to be recorded.
    ended: bool,
}

/// Whether the journal knows that a step is about to run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Intent {
    #[default]
    Unsaid,
    Said,
    Recorded,
    /// Recorded by a process that did not live to record a result.
    Ambiguous,
}

impl Context {
    /// The task, for whoever tells of it.
    pub(crate) fn of(&self) -> Of<'_> {
        Of {
            id: &self.id,
            tool: &self.tool,
        }
    }

    /// The context of a call that was made at this time.
    ///
    /// `may_start_steps`: whether steps may run at once, or only after
    /// [`start_steps`](Self::start_steps).
    pub(crate) fn new(created: &Created, at: Timestamp, may_start_steps: bool) -> Self {
        Self {
            id: created.id.clone(),
            tool: created.tool.clone(),
            version: created.version,
            trace: created.trace.clone(),
            caller: created.caller.clone(),
            capabilities: created.capabilities,
            seed: created.seed,
            inner: Mutex::new(Inner {
                ttl_ms: created.ttl_ms,
                now: at,
                steps: Steps {
                    may_start: may_start_steps,
                    ..Steps::default()
                },
                ..Inner::default()
            }),
        }
    }

    /// Runs the function through a journal first.
    pub(crate) fn replay(&self, record: Record) {
        self.lock().replay = Some(Box::new(Replay::new(record)));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic of the function's own code never happens under this lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the function has asked for since the last time.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.lock().requests)
    }

    /// Whether the function has asked for anything since the last time.
    pub(crate) fn has_requests(&self) -> bool {
        !self.lock().requests.is_empty()
    }

    /// Takes the status, if the function has changed it since the last time.
    pub(crate) fn take_status(&self) -> Option<(Option<Arc<str>>, Option<Progress>)> {
        let mut inner = self.lock();
        let changed = std::mem::take(&mut inner.status.changed);
        changed.then(|| (inner.status.message.clone(), inner.status.progress))
    }

    /// Whether a change of the status has not been taken yet.
    pub(crate) fn has_status(&self) -> bool {
        self.lock().status.changed
    }

    /// Whether something is running inside the function right now, or is about
    /// to.
    pub(crate) fn is_running(&self) -> bool {
        let inner = self.lock();
        inner.steps.running > 0 || inner.steps.wait
    }

    /// Whether the function waits for something that comes from outside: an
    /// answer, a timer, a signal.
    pub(crate) fn awaits_others(&self) -> bool {
        let inner = self.lock();
        let mut slots = inner.slots.values();
        inner.listening > 0
            || slots.any(|slot| match slot {
                Slot::Waiting => true,
                Slot::Step(step) => step.resting,
                _ => false,
            })
    }

    /// To be called before the function is polled.
    pub(crate) fn before_poll(&self) {
        self.lock().steps.wait = false;
    }

    /// Lets steps start from now on.
    pub(crate) fn start_steps(&self) {
        self.lock().steps.may_start = true;
    }

    /// Lets no further step start, but for those of which the journal says that
    /// they do.
    pub(crate) fn stop_steps(&self) {
        self.lock().steps.may_start = false;
    }

    /// Whether the future of a step runs, or is said to.
    pub(crate) fn is_in_step(&self) -> bool {
        let inner = self.lock();
        inner.steps.inside > 0 || inner.slots.values().any(Slot::is_intended)
    }

    /// Says that the call becomes a task where the function wants it to.
    pub(crate) fn may_start_task(&self) {
        self.lock().start = TaskStart::Ahead;
    }

    /// Says that the call is a task from now on.
    pub(crate) fn task_started(&self) {
        self.lock().start = TaskStart::Settled;
    }

    /// Lets go of the function: what it drops from now on is not recorded.
    pub(crate) fn detach(&self) {
        self.lock().detached = true;
    }

    /// Whether an outcome must wait for an `unrecorded` future that runs again
    /// and has not ended yet.
    pub(crate) fn must_wait_for(&self, event: &Event) -> bool {
        let Event::Ran { key } = event else {
            return false;
        };
        matches!(self.lock().slots.get(key), Some(Slot::Unrecorded(false)))
    }

    /// Shows a recorded event to the function. An outcome that nothing waits
    /// for any more is passed over.
    ///
    /// # Errors
    ///
    /// [`Contradiction`] if the function has not asked for it, and should have.
    pub(crate) fn deliver(&self, entry: &Entry) -> Result<(), Contradiction> {
        let mut inner = self.lock();
        let (key, outcome) = match &entry.event {
            Event::Answered { key, response } => (key, Outcome::Answer(response.clone())),
            Event::StepDone { key, outcome, .. } => (key, Outcome::Step(outcome.clone())),
            Event::TimerFired { key } => (key, Outcome::TimerFired),
            Event::Ran { key } => (key, Outcome::Ran),
            Event::Signalled { name, value } => {
                inner.now = entry.at;
                let queue = inner.signals.entry(name.clone()).or_default();
                queue.push_back(value.clone());
                return Ok(());
            }
            Event::CancelRequested => {
                inner.now = entry.at;
                inner.cancelled = true;
                return Ok(());
            }
            _ => return Ok(()),
        };
        if let Some(replay) = &inner.replay {
            replay.check_due(key, matches!(inner.slots.get(key), Some(Slot::Gone)))?;
        }
        inner.now = entry.at;
        match inner.slots.get_mut(key) {
            Some(slot) if slot.is_open() => *slot = Slot::Ready(outcome),
            _ => {}
        }
        Ok(())
    }

    /// Compares what the function has asked for with the journal, before it
    /// returns or goes beyond what is recorded; afterwards, what is new among
    /// its requests can be taken.
    ///
    /// # Errors
    ///
    /// [`Contradiction`] at the first thing that does not fit.
    pub(crate) fn end_replay(&self, task: &Snapshot, returned: bool) -> Result<(), Contradiction> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let Some(mut replay) = inner.replay.take() else {
            return Ok(());
        };
        let slots = &mut inner.slots;
        replay.check_end(returned, |key| slots.get(key).is_some_and(Slot::is_open))?;
        for (key, slot) in slots.iter_mut() {
            if let Slot::Step(wait) = slot
                && let Some(recorded) = replay.step(key)
            {
                wait.failed = recorded.failed;
                wait.resting = recorded.retry_at.is_some();
                if recorded.intended {
                    wait.intent = Intent::Ambiguous;
                }
            }
        }
        let open = |key: &InputKey| slots.get(key).is_some_and(Slot::is_open);
        inner.requests.retain(|request| match request {
            Request::Ask { key, .. } | Request::Timer { key, .. } => {
                !replay.is_recorded(key) && open(key)
            }
            Request::Withdraw { key } => replay.is_outstanding(key),
            Request::Ran { key } => !replay.is_recorded(key) && open(key),
            Request::Patched { id } => !replay.is_patched(id),
            Request::Ttl { .. } => false,
            _ => true,
        });
        if inner.ttl_ms != task.ttl_ms {
            let ttl_ms = inner.ttl_ms;
            inner.requests.push(Request::Ttl { ttl_ms });
        }
        let status = &mut inner.status;
        status.changed =
            status.changed && (status.message != task.message || status.progress != task.progress);
        inner.patches.wait = inner
            .requests
            .iter()
            .any(|request| matches!(request, Request::Patched { .. }));
        inner.patches.recorded = replay.take_patched();
        inner.dropped = replay.into_dropped();
        Ok(())
    }

    /// Compares what the function asks for, now that it goes beyond its record,
    /// with what it was recorded to have dropped. Such a key is used up: what
    /// is dropped again is left out from its requests.
    ///
    /// # Errors
    ///
    /// [`Contradiction`] at what is awaited this time, or is of another kind.
    pub(crate) fn check_late(&self) -> Result<(), Contradiction> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let Some(dropped) = &inner.dropped else {
            return Ok(());
        };
        for request in &inner.requests {
            if let Request::Late { key } = request {
                let open = inner.slots.get(key).is_some_and(Slot::is_open);
                dropped.check_late(key, open)?;
            }
        }
        inner.requests.retain(|request| match request {
            Request::Late { .. } => false,
            Request::Ask { key, .. } | Request::Timer { key, .. } | Request::Withdraw { key } => {
                !dropped.is_recorded(key)
            }
            _ => true,
        });
        Ok(())
    }

    /// The timers and next attempts that the journal holds and the function
    /// still waits for. To be asked before [`end_replay`](Self::end_replay).
    pub(crate) fn recorded_timers(&self) -> Vec<(Timestamp, InputKey)> {
        let inner = self.lock();
        let Some(replay) = &inner.replay else {
            return Vec::new();
        };
        let due = |(key, slot): (&InputKey, &Slot)| {
            let at = match slot {
                Slot::Waiting => replay.timer(key),
                Slot::Step(_) => replay.step(key)?.retry_at,
                _ => None,
            };
            at.map(|at| (at, key.clone()))
        };
        inner.slots.iter().filter_map(due).collect()
    }

    /// Says that the markers of `patched` are recorded.
    pub(crate) fn patches_recorded(&self) {
        self.lock().patches.wait = false;
    }

    /// Says that the journal knows what a step is about to do.
    pub(crate) fn intent_recorded(&self, key: &InputKey) {
        if let Some(Slot::Step(wait)) = self.lock().slots.get_mut(key) {
            wait.intent = Intent::Recorded;
        }
    }

    /// Lets a step try again. False if the key is no step's that rests.
    pub(crate) fn retry(&self, key: &InputKey) -> bool {
        match self.lock().slots.get_mut(key) {
            Some(Slot::Step(wait)) => std::mem::take(&mut wait.resting),
            _ => false,
        }
    }
}

impl Slot {
    /// Whether it is a step that the journal says is about to run.
    fn is_intended(&self) -> bool {
        matches!(self, Self::Step(wait) if wait.intent == Intent::Recorded && !wait.ended)
    }

    /// Whether the function waits for its outcome.
    fn is_open(&self) -> bool {
        match self {
            Self::Waiting | Self::Step(_) | Self::Unrecorded(_) => true,
            Self::Ready(_) | Self::Gone => false,
        }
    }
}
