//! The function's side of what it shares with its driver: how its futures ask
//! for things, and find what they got.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::{Context, Intent, ScopeOf, Slot, StepWait, TaskStart};
use crate::flow::request::{Kind, Outcome, Request, Start, Wanted};
use crate::task::{InputKey, Progress, Timestamp};

/// The running task, as a task function's body sees it. Generated code only.
///
/// A cheap handle; each branch has one with its own scope.
#[derive(Clone)]
pub struct Flow {
    context: Arc<Context>,
    /// `left/` inside the branch `left`, nothing outside of branches.
    scope: Option<Arc<str>>,
}

/// As far as integers are exact in every client's JSON.
const LONGEST_TTL_MS: u64 = (1 << 53) - 1;

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
        self.enter(name, ScopeOf::Branches, place)
    }

    /// The scope of one pass through a call of a flow; without a place that of
    /// the one call that may have the name.
    pub(in crate::flow) fn call(&self, name: &str, place: Option<u32>) -> Self {
        let owner = place.map_or(ScopeOf::Call, ScopeOf::Calls);
        self.enter(name, owner, place.unwrap_or_default())
    }

    fn enter(&self, name: &str, owner: ScopeOf, place: u32) -> Self {
        let name = self.scoped(name);
        let before = self.context.lock().scopes.insert(name.clone(), owner);
        if before.is_some_and(|before| before != owner || owner == ScopeOf::Call) {
            self.request(Request::Misuse(format!(
                "the key `{name}` was used before in this task; give each flow its own with \
                 `.key(..)`"
            )));
        }
        let pass = self.count(name, place);
        Self {
            context: self.context.clone(),
            scope: Some(format!("{pass}/").into()),
        }
    }

    /// The key of one pass through a place: `key`, then `key#2`, `key#3`, ...
    pub(in crate::flow) fn pass(&self, key: &str) -> InputKey {
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
    pub(in crate::flow) fn scoped(&self, key: &str) -> InputKey {
        match &self.scope {
            None => InputKey::new(key),
            Some(scope) => InputKey::new(format!("{scope}{key}")),
        }
    }

    /// Starts waiting under a key. False if the key is taken: then the task
    /// will be ended, and nothing must be awaited.
    pub(in crate::flow) fn open(
        &self,
        key: &InputKey,
        place: &'static Location<'static>,
        kind: Kind,
    ) -> bool {
        let mut inner = self.context.lock();
        let inner = &mut *inner;
        if inner.slots.contains_key(key) {
            inner.requests.push(Request::Misuse(format!(
                "the key `{key}` was used before in this task; give each its own with `.key(..)`"
            )));
            return false;
        }
        let slot = match &kind {
            Kind::Ask { .. } | Kind::Timer => Slot::Waiting,
            Kind::Step { at_most_once, .. } => Slot::Step(StepWait {
                at_most_once: *at_most_once,
                ..StepWait::default()
            }),
            Kind::Unrecorded => Slot::Unrecorded(false),
        };
        inner.slots.insert(key.clone(), slot);
        if let Some(replay) = &mut inner.replay {
            replay.want(key, Wanted { kind, place });
        } else if let Some(dropped) = &mut inner.dropped
            && dropped.is_recorded(key)
        {
            dropped.want(key, Wanted { kind, place });
            let key = key.clone();
            inner.requests.push(Request::Late { key });
        }
        true
    }

    /// Takes the outcome under a key, if it has been delivered.
    pub(in crate::flow) fn take(&self, key: &InputKey) -> Option<Outcome> {
        let mut inner = self.context.lock();
        let slot = inner.slots.get_mut(key)?;
        if !matches!(slot, Slot::Ready(_)) {
            return None;
        }
        match std::mem::replace(slot, Slot::Gone) {
            Slot::Ready(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Stops waiting under a key. What the journal knows of is withdrawn.
    pub(in crate::flow) fn close(&self, key: &InputKey) {
        let mut inner = self.context.lock();
        let replaying = inner.replay.is_some();
        let before = inner.slots.insert(key.clone(), Slot::Gone);
        let known = match before {
            Some(Slot::Waiting) => true,
            // In a replay it is not known yet; what is not recorded is sorted
            // out at its end.
            Some(Slot::Step(wait)) => {
                let begun = matches!(wait.intent, Intent::Recorded | Intent::Ambiguous);
                !wait.ended && (replaying || begun || wait.failed > 0)
            }
            Some(Slot::Unrecorded(_) | Slot::Ready(_) | Slot::Gone) | None => false,
        };
        if known && !inner.detached {
            inner.requests.push(Request::Withdraw { key: key.clone() });
        }
    }

    pub(in crate::flow) fn request(&self, request: Request) {
        self.context.lock().requests.push(request);
    }

    /// Whether a step's future may run now; asks for what is missing if not.
    pub(in crate::flow) fn start_step(&self, key: &InputKey, function: &'static str) -> Start {
        let mut inner = self.context.lock();
        let inner = &mut *inner;
        let Some(Slot::Step(wait)) = inner.slots.get_mut(key) else {
            return Start::Wait;
        };
        if wait.resting || wait.ended {
            return Start::Wait;
        }
        let dropped = inner.dropped.as_ref();
        let is_late = dropped.is_some_and(|dropped| dropped.is_recorded(key));
        if inner.replay.is_some() || inner.patches.wait || is_late {
            inner.steps.wait = true;
            return Start::Wait;
        }
        if !inner.steps.may_start && wait.intent != Intent::Recorded {
            inner.steps.wait = true;
            inner.requests.push(Request::StartStep);
            return Start::Wait;
        }
        if wait.at_most_once {
            match wait.intent {
                Intent::Unsaid => {
                    wait.intent = Intent::Said;
                    inner.steps.wait = true;
                    let key = key.clone();
                    inner.requests.push(Request::Intend { key, function });
                    return Start::Wait;
                }
                Intent::Said => {
                    inner.steps.wait = true;
                    return Start::Wait;
                }
                Intent::Ambiguous => return Start::Ambiguous,
                Intent::Recorded => {}
            }
        }
        inner.steps.running += 1;
        inner.steps.inside += 1;
        Start::Attempt(wait.failed + 1)
    }

    /// Lets a step that might have run before run all the same.
    pub(in crate::flow) fn run_again(&self, key: &InputKey) {
        if let Some(Slot::Step(wait)) = self.context.lock().slots.get_mut(key) {
            wait.intent = Intent::Recorded;
        }
    }

    /// Notes that the future of a step is not there any more.
    pub(in crate::flow) fn step_ended(&self) {
        let steps = &mut self.context.lock().steps;
        steps.running -= 1;
        steps.inside -= 1;
    }

    /// Notes that an `unrecorded` future has started.
    pub(in crate::flow) fn future_started(&self) {
        self.context.lock().steps.running += 1;
    }

    /// Notes that it is not there any more.
    pub(in crate::flow) fn future_ended(&self) {
        self.context.lock().steps.running -= 1;
    }

    /// Hands over a step's result, to be recorded.
    pub(in crate::flow) fn step_done(
        &self,
        key: &InputKey,
        function: &'static str,
        outcome: Arc<RawValue>,
    ) {
        let mut inner = self.context.lock();
        if let Some(Slot::Step(wait)) = inner.slots.get_mut(key) {
            wait.ended = true;
        }
        inner.requests.push(Request::StepDone {
            key: key.clone(),
            function,
            outcome,
        });
    }

    /// Lets a step rest until its next attempt.
    pub(in crate::flow) fn step_failed(
        &self,
        key: &InputKey,
        function: &'static str,
        after: Duration,
    ) {
        let mut inner = self.context.lock();
        let Some(Slot::Step(wait)) = inner.slots.get_mut(key) else {
            return;
        };
        wait.failed += 1;
        wait.resting = true;
        // It is known how this attempt ended; the next is another intent.
        wait.intent = Intent::Unsaid;
        let n = wait.failed;
        inner.requests.push(Request::Attempt {
            key: key.clone(),
            function,
            n,
            after,
        });
    }

    /// Notes that an `unrecorded` future has ended; its value may be used once
    /// that is recorded and its turn has come.
    pub(in crate::flow) fn ran(&self, key: &InputKey) {
        let mut inner = self.context.lock();
        if let Some(Slot::Unrecorded(ended)) = inner.slots.get_mut(key) {
            *ended = true;
            inner.requests.push(Request::Ran { key: key.clone() });
        }
    }

    /// Whether a step's result is recorded already, so that its argument need
    /// not be evaluated.
    pub(in crate::flow) fn has_result(&self, key: &InputKey) -> bool {
        let inner = self.context.lock();
        inner
            .replay
            .as_ref()
            .is_some_and(|replay| replay.has_result(key))
    }

    /// Says whose future is polled from here on; gives what was said before.
    pub(in crate::flow) fn enter_step(&self, key: Option<InputKey>) -> Option<InputKey> {
        std::mem::replace(&mut self.context.lock().steps.current, key)
    }

    /// The step whose future is being polled.
    pub(in crate::flow) fn current_step(&self) -> Option<InputKey> {
        self.context.lock().steps.current.clone()
    }

    /// Takes the oldest signal of a name that nobody has taken.
    pub(in crate::flow) fn take_signal(&self, name: &str) -> Option<Arc<RawValue>> {
        self.context.lock().signals.get_mut(name)?.pop_front()
    }

    /// Notes that a wait for a signal has begun.
    pub(in crate::flow) fn listens(&self) {
        self.context.lock().listening += 1;
    }

    /// Notes that it is over.
    pub(in crate::flow) fn listens_no_more(&self) {
        self.context.lock().listening -= 1;
    }

    /// When the outcome that was shown last was recorded; at first, when the
    /// task was created.
    pub(in crate::flow) fn now(&self) -> Timestamp {
        self.context.lock().now
    }

    /// Whether the function is run through its record.
    pub(in crate::flow) fn is_replaying(&self) -> bool {
        self.context.lock().replay.is_some()
    }

    /// Whether this run takes the new side of a change of the code.
    pub(in crate::flow) fn patched(&self, id: &str) -> bool {
        let mut inner = self.context.lock();
        let inner = &mut *inner;
        if let Some(decided) = inner.patches.decided.get(id) {
            return *decided;
        }
        let recorded = inner.patches.recorded.contains(id)
            || inner
                .replay
                .as_ref()
                .is_some_and(|replay| replay.is_patched(id));
        let decided = recorded
            || inner
                .replay
                .as_ref()
                .is_none_or(|replay| replay.has_caught_up());
        inner.patches.decided.insert(id.into(), decided);
        if decided && !recorded {
            inner.patches.wait = true;
            inner.requests.push(Request::Patched { id: id.into() });
        }
        decided
    }

    pub(in crate::flow) fn set_message(&self, message: String) {
        let mut inner = self.context.lock();
        inner.status.message = Some(message.into());
        inner.status.changed = true;
    }

    pub(in crate::flow) fn set_progress(&self, progress: Progress) {
        let mut inner = self.context.lock();
        inner.status.progress = Some(progress);
        inner.status.changed = true;
    }

    /// Changes the ttl by what it was.
    pub(in crate::flow) fn change_ttl(&self, change: impl FnOnce(Option<u64>) -> Option<u64>) {
        let mut inner = self.context.lock();
        let ttl_ms = change(inner.ttl_ms).map(|ttl| ttl.min(LONGEST_TTL_MS));
        if ttl_ms != inner.ttl_ms {
            inner.ttl_ms = ttl_ms;
            inner.requests.push(Request::Ttl { ttl_ms });
        }
    }

    /// Asks for the call to become a task; whether it is settled that it has, or
    /// never will.
    pub(in crate::flow) fn start_task(&self) -> bool {
        let mut inner = self.context.lock();
        if inner.start == TaskStart::Ahead {
            inner.start = TaskStart::Requested;
            inner.requests.push(Request::StartTask);
        }
        inner.start == TaskStart::Settled
    }

    pub(in crate::flow) fn is_cancelled(&self) -> bool {
        self.context.lock().cancelled
    }
}
