//! What a running function and its driver share.
//!
//! The function's futures register what they want as requests; the driver
//! takes the requests after each poll, records them, and puts outcomes into the
//! slots that the futures look at when they are polled next. Nothing here
//! wakes anybody: the driver polls the function after each delivery.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;

use crate::protocol::{Capabilities, InputRequest};
use crate::task::{Event, InputKey, Progress, Response, TaskId, Timestamp, millis};

/// The running task, as a task function's body sees it. Generated code only.
///
/// A cheap handle; each branch has one with its own scope.
#[derive(Clone)]
pub struct Flow {
    context: Arc<Context>,
    /// `left/` inside the branch `left`, nothing outside of branches.
    scope: Option<Arc<str>>,
}

/// The state that a function and its driver share.
pub(crate) struct Context {
    pub(crate) id: TaskId,
    pub(crate) capabilities: Capabilities,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    slots: HashMap<InputKey, Slot>,
    /// How often each key of the source was passed, by place where a key may
    /// stand at several.
    passes: HashMap<(InputKey, u32), u32>,
    requests: Vec<Request>,
    status: Status,
    ttl_ms: Option<u64>,
    cancelled: bool,
    running_steps: usize,
    may_start_steps: bool,
    /// Set when the driver lets go of the function: what the function drops
    /// from then on is not its own doing.
    detached: bool,
}

#[derive(Default)]
struct Status {
    message: Option<Arc<str>>,
    progress: Option<Progress>,
    changed: bool,
}

/// What became of a key. Keys stay known: none is used twice (P20).
enum Slot {
    Waiting,
    Ready(Outcome),
    Gone,
}

/// What a function waited for.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Answer(Arc<Response>),
    Step(Arc<RawValue>),
    TimerFired,
}

/// What a function wants of its driver.
#[derive(Debug)]
pub(crate) enum Request {
    Ask {
        key: InputKey,
        request: InputRequest,
    },
    Timer {
        key: InputKey,
        due: TimerDue,
    },
    /// A step wants to start, and may not before the task exists.
    StartStep,
    StepDone {
        key: InputKey,
        function: &'static str,
        outcome: Arc<RawValue>,
    },
    Withdraw {
        key: InputKey,
    },
    Ttl {
        ttl_ms: Option<u64>,
    },
    /// The function broke a rule that only shows at run time.
    Misuse(String),
}

/// When a timer goes off.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimerDue {
    /// So long after it is recorded.
    After(Duration),
    /// At this moment.
    At(Timestamp),
}

/// As far as integers are exact in every client's JSON.
const LONGEST_TTL_MS: u64 = (1 << 53) - 1;

impl TimerDue {
    pub(crate) fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::After(duration) => now.plus_millis(millis(duration)),
            Self::At(at) => at,
        }
    }
}

impl Context {
    /// `may_start_steps`: whether steps may run at once, or only after
    /// [`start_steps`](Self::start_steps).
    pub(crate) fn new(
        id: TaskId,
        capabilities: Capabilities,
        ttl_ms: Option<u64>,
        may_start_steps: bool,
    ) -> Self {
        Self {
            id,
            capabilities,
            inner: Mutex::new(Inner {
                ttl_ms,
                may_start_steps,
                ..Inner::default()
            }),
        }
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

    /// Whether a step is running inside the function right now.
    pub(crate) fn has_running_steps(&self) -> bool {
        self.lock().running_steps > 0
    }

    /// Lets steps start from now on.
    pub(crate) fn start_steps(&self) {
        self.lock().may_start_steps = true;
    }

    /// Lets go of the function: what it drops from now on is not recorded.
    pub(crate) fn detach(&self) {
        self.lock().detached = true;
    }

    /// Shows a recorded event to the function. An outcome that nothing waits
    /// for any more is passed over.
    pub(crate) fn deliver(&self, event: &Event) {
        let (key, outcome) = match event {
            Event::Answered { key, response } => (key, Outcome::Answer(response.clone())),
            Event::StepDone { key, outcome, .. } => (key, Outcome::Step(outcome.clone())),
            Event::TimerFired { key } => (key, Outcome::TimerFired),
            Event::CancelRequested => {
                self.lock().cancelled = true;
                return;
            }
            _ => return,
        };
        if let Some(slot @ Slot::Waiting) = self.lock().slots.get_mut(key) {
            *slot = Slot::Ready(outcome);
        }
    }
}

impl Flow {
    pub(crate) fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            scope: None,
        }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The scope of one pass through a branch.
    ///
    /// Branches of the same name at different places share a scope, in which
    /// the macro lets no key stand twice; passes are counted for each place, so
    /// that a place's keys do not depend on what stands before it.
    #[must_use]
    pub fn branch(&self, name: &str, place: u32) -> Self {
        let name = self.scoped(name);
        let pass = self.count(name, place);
        Self {
            context: self.context.clone(),
            scope: Some(format!("{pass}/").into()),
        }
    }

    /// The key of one pass through a place: `key`, then `key#2`, `key#3`, ...
    pub(super) fn pass(&self, key: &str) -> InputKey {
        self.count(self.scoped(key), 0)
    }

    fn count(&self, key: InputKey, place: u32) -> InputKey {
        let mut inner = self.context.lock();
        let passes = inner.passes.entry((key.clone(), place)).or_default();
        *passes += 1;
        if *passes == 1 {
            key
        } else {
            InputKey::new(format!("{key}#{passes}"))
        }
    }

    /// A key that was computed at run time.
    pub(super) fn scoped(&self, key: &str) -> InputKey {
        match &self.scope {
            None => InputKey::new(key),
            Some(scope) => InputKey::new(format!("{scope}{key}")),
        }
    }

    /// Starts waiting under a key. False if the key is taken: then the task
    /// will be ended, and nothing must be awaited.
    pub(super) fn open(&self, key: &InputKey, request: Option<Request>) -> bool {
        let mut inner = self.context.lock();
        if inner.slots.contains_key(key) {
            inner.requests.push(Request::Misuse(format!(
                "the key `{key}` was used before in this task; give each its own with `.key(..)`"
            )));
            return false;
        }
        inner.slots.insert(key.clone(), Slot::Waiting);
        inner.requests.extend(request);
        true
    }

    /// Takes the outcome under a key, if it has been delivered.
    pub(super) fn take(&self, key: &InputKey) -> Option<Outcome> {
        let mut inner = self.context.lock();
        let slot = inner.slots.get_mut(key)?;
        if !matches!(slot, Slot::Ready(_)) {
            return None;
        }
        match std::mem::replace(slot, Slot::Gone) {
            Slot::Ready(outcome) => Some(outcome),
            Slot::Waiting | Slot::Gone => None,
        }
    }

    /// Stops waiting under a key; `recorded`: whether the journal knows of it.
    pub(super) fn close(&self, key: &InputKey, recorded: bool) {
        let mut inner = self.context.lock();
        let before = inner.slots.insert(key.clone(), Slot::Gone);
        let waiting = matches!(before, Some(Slot::Waiting));
        if waiting && recorded && !inner.detached {
            inner.requests.push(Request::Withdraw { key: key.clone() });
        }
    }

    pub(super) fn request(&self, request: Request) {
        self.context.lock().requests.push(request);
    }

    /// Whether a step may start now; asks for leave if not.
    pub(super) fn may_start_step(&self) -> bool {
        let mut inner = self.context.lock();
        if inner.may_start_steps {
            inner.running_steps += 1;
        } else {
            inner.requests.push(Request::StartStep);
        }
        inner.may_start_steps
    }

    pub(super) fn step_ended(&self) {
        self.context.lock().running_steps -= 1;
    }

    pub(super) fn set_message(&self, message: String) {
        let mut inner = self.context.lock();
        inner.status.message = Some(message.into());
        inner.status.changed = true;
    }

    pub(super) fn set_progress(&self, progress: Progress) {
        let mut inner = self.context.lock();
        inner.status.progress = Some(progress);
        inner.status.changed = true;
    }

    /// Changes the ttl by what it was.
    pub(super) fn change_ttl(&self, change: impl FnOnce(Option<u64>) -> Option<u64>) {
        let mut inner = self.context.lock();
        let ttl_ms = change(inner.ttl_ms).map(|ttl| ttl.min(LONGEST_TTL_MS));
        if ttl_ms != inner.ttl_ms {
            inner.ttl_ms = ttl_ms;
            inner.requests.push(Request::Ttl { ttl_ms });
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.context.lock().cancelled
    }
}
