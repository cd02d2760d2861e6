//! The state machine: what may happen when.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Due, Entry, Event, InputKey, Outcome, Seq, Snapshot, Timestamp};
use crate::protocol::ProtocolError;

/// What a journal adds up to.
///
/// It changes by [`apply`](Self::apply) alone, one event at a time, in order.
#[derive(Clone, Debug)]
pub struct TaskState {
    snapshot: Arc<Snapshot>,
    seq: Seq,
    /// Every key that was used while the task lived; none comes twice (P20).
    keys: HashMap<InputKey, KeyState>,
    cancel_grace_ms: Option<u64>,
    cancel_requested: bool,
    recoveries: Recoveries,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyState {
    Asked(Timestamp),
    Answered,
    TimerSet(Timestamp),
    TimerFired,
    StepIntended,
    StepAttempt(Timestamp),
    StepDone,
    Ran,
    Withdrawn,
}

impl KeyState {
    fn is_live(self) -> bool {
        !matches!(
            self,
            Self::Answered | Self::TimerFired | Self::Ran | Self::Withdrawn
        )
    }
}

/// How often a task was taken over from a process that died while it ran,
/// without getting any further since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// All of them.
    pub started: u32,
    /// Those in which the task ran alone.
    pub alone: u32,
}

/// How many recoveries may fail before a task is suspected.
const TRUSTED_RECOVERIES: u32 = 2;

impl Recoveries {
    /// Whether the task may be what brings processes down: then it is resumed
    /// when no other suspect is.
    pub fn is_suspect(self) -> bool {
        self.started > TRUSTED_RECOVERIES
    }
}

/// An event that the rules do not allow where it came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalTransition {
    /// A journal starts with `Created`.
    #[error("a journal must start with `created`")]
    NotCreated,
    /// `Created` comes once.
    #[error("a journal cannot be created twice")]
    CreatedTwice,
    /// Nothing follows `Finished` (P15).
    #[error("the task has ended")]
    Ended,
    /// An entry is missing or came twice.
    #[error("entry {got} cannot follow entry {last}")]
    OutOfOrder {
        /// The last entry that was applied.
        last: Seq,
        /// The entry that came.
        got: Seq,
    },
    /// A key was used before.
    #[error("the key `{0}` was used before")]
    KeyUsed(InputKey),
    /// An outcome for something that does not wait for it.
    #[error("nothing waits under the key `{0}`")]
    NotWaiting(InputKey),
    /// Cancellation is asked for once.
    #[error("cancellation was requested before")]
    CancelledTwice,
}

impl TaskState {
    /// The state after a journal's first entry.
    ///
    /// # Errors
    ///
    /// [`IllegalTransition`] if the entry is not `Created`, or not the first.
    pub fn new(first: &Entry) -> Result<Self, IllegalTransition> {
        if first.seq != 1 {
            return Err(IllegalTransition::OutOfOrder {
                last: 0,
                got: first.seq,
            });
        }
        let Event::Created(created) = &first.event else {
            return Err(IllegalTransition::NotCreated);
        };
        Ok(Self {
            snapshot: Arc::new(Snapshot::new(created, first.at)),
            seq: 1,
            keys: HashMap::new(),
            cancel_grace_ms: created.cancel_grace_ms,
            cancel_requested: false,
            recoveries: Recoveries::default(),
        })
    }

    /// The state that a journal adds up to. Superseded statuses may be missing
    /// from it.
    ///
    /// # Errors
    ///
    /// [`IllegalTransition`] at the first entry that breaks the rules.
    pub fn replay(journal: &[Entry]) -> Result<Self, IllegalTransition> {
        let (first, rest) = journal.split_first().ok_or(IllegalTransition::NotCreated)?;
        let mut state = Self::new(first)?;
        for entry in rest {
            state.seq = state.seq.max(entry.seq.saturating_sub(1));
            state.apply(entry)?;
        }
        Ok(state)
    }

    /// Takes one more entry into the state.
    ///
    /// # Errors
    ///
    /// [`IllegalTransition`] if the rules do not allow it; the state is then
    /// unchanged.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), IllegalTransition> {
        if entry.seq != self.seq + 1 {
            return Err(IllegalTransition::OutOfOrder {
                last: self.seq,
                got: entry.seq,
            });
        }
        if self.snapshot.is_terminal() {
            return Err(IllegalTransition::Ended);
        }
        self.transition(&entry.event, entry.at)?;
        if entry.event.is_the_holders() {
            self.recoveries = Recoveries::default();
        }
        self.seq = entry.seq;
        Arc::make_mut(&mut self.snapshot).updated_at = entry.at;
        Ok(())
    }

    fn transition(&mut self, event: &Event, at: Timestamp) -> Result<(), IllegalTransition> {
        match event {
            Event::Created(_) => return Err(IllegalTransition::CreatedTwice),
            Event::Asked { key, request } => {
                self.take_key(key, KeyState::Asked(at))?;
                self.change()
                    .input_requests
                    .push((key.clone(), request.clone()));
            }
            Event::Answered { key, .. } => {
                let asked = |state| matches!(state, KeyState::Asked(_));
                self.turn(key, asked, KeyState::Answered)?;
                self.no_longer_ask(key);
            }
            Event::StepIntended { key, .. } => match self.keys.get(key) {
                // The next attempt, after one that is known to have failed.
                Some(KeyState::StepAttempt(_)) => self.step(key, KeyState::StepIntended)?,
                _ => self.take_key(key, KeyState::StepIntended)?,
            },
            Event::StepAttempt { key, retry_at, .. } => {
                self.step(key, KeyState::StepAttempt(*retry_at))?;
            }
            Event::StepDone { key, .. } => self.step(key, KeyState::StepDone)?,
            Event::TimerSet { key, at } => self.take_key(key, KeyState::TimerSet(*at))?,
            Event::TimerFired { key } => {
                let set = |state| matches!(state, KeyState::TimerSet(_));
                self.turn(key, set, KeyState::TimerFired)?;
            }
            Event::Ran { key } => self.take_key(key, KeyState::Ran)?,
            Event::Signalled { .. } | Event::Patched { .. } => {}
            Event::Withdrawn { key } => {
                self.turn(key, KeyState::is_live, KeyState::Withdrawn)?;
                self.no_longer_ask(key);
            }
            Event::Status { message, progress } => {
                let snapshot = self.change();
                snapshot.message.clone_from(message);
                snapshot.progress = *progress;
            }
            Event::TtlChanged { ttl_ms } => self.change().ttl_ms = *ttl_ms,
            Event::CancelRequested => {
                if self.cancel_requested {
                    return Err(IllegalTransition::CancelledTwice);
                }
                self.cancel_requested = true;
                let deadline = at.plus_millis(self.cancel_grace_ms.unwrap_or(0));
                self.change().cancel_deadline = Some(deadline);
            }
            Event::RecoveryStarted { alone } => {
                self.recoveries.started += 1;
                self.recoveries.alone += u32::from(*alone);
            }
            Event::Held(held) => self.change().held = Some(held.clone()),
            Event::Resumed => self.change().held = None,
            Event::Finished(outcome) => {
                // Nothing follows that could use a key again.
                self.keys = HashMap::new();
                let snapshot = self.change();
                snapshot.input_requests.clear();
                snapshot.held = None;
                snapshot.outcome = Some(outcome.clone());
            }
        }
        Ok(())
    }

    fn take_key(&mut self, key: &InputKey, state: KeyState) -> Result<(), IllegalTransition> {
        if self.keys.contains_key(key) {
            return Err(IllegalTransition::KeyUsed(key.clone()));
        }
        self.keys.insert(key.clone(), state);
        Ok(())
    }

    /// Takes a step a stage further, or lets it begin at this stage.
    fn step(&mut self, key: &InputKey, to: KeyState) -> Result<(), IllegalTransition> {
        if !self.keys.contains_key(key) {
            return self.take_key(key, to);
        }
        let under_way = |state| matches!(state, KeyState::StepIntended | KeyState::StepAttempt(_));
        self.turn(key, under_way, to)
            .map_err(|_| IllegalTransition::KeyUsed(key.clone()))
    }

    fn turn(
        &mut self,
        key: &InputKey,
        from: impl FnOnce(KeyState) -> bool,
        to: KeyState,
    ) -> Result<(), IllegalTransition> {
        match self.keys.get_mut(key) {
            Some(state) if from(*state) => {
                *state = to;
                Ok(())
            }
            _ => Err(IllegalTransition::NotWaiting(key.clone())),
        }
    }

    fn no_longer_ask(&mut self, key: &InputKey) {
        self.change()
            .input_requests
            .retain(|(asked, _)| asked != key);
    }

    fn change(&mut self) -> &mut Snapshot {
        Arc::make_mut(&mut self.snapshot)
    }

    /// The state as others see it.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The place of the last entry.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// What the clock has to say to a function that waits, by `now`: each timer
    /// that is due, in order.
    pub fn due_timers(&self, now: Timestamp) -> Vec<Event> {
        let due = |(key, state): (&InputKey, &KeyState)| match state {
            KeyState::TimerSet(at) if *at <= now => Some((*at, key.clone())),
            _ => None,
        };
        let mut due: Vec<_> = self.keys.iter().filter_map(due).collect();
        due.sort();
        let fired = |(_, key)| Event::TimerFired { key };
        due.into_iter().map(fired).collect()
    }

    /// When a function that waits must run again by the clock: the first of
    /// its timers and of its steps' next attempts.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let due = |state: &KeyState| match state {
            KeyState::TimerSet(at) | KeyState::StepAttempt(at) => Some(*at),
            _ => None,
        };
        self.keys.values().filter_map(due).min()
    }

    /// Which questions these answer, and when each was asked. To be called before
    /// they are applied.
    pub fn answered_by(&self, events: &[Event]) -> Vec<(InputKey, Timestamp)> {
        let answered = |event: &Event| match event {
            Event::Answered { key, .. } => match self.keys.get(key) {
                Some(KeyState::Asked(at)) => Some((key.clone(), *at)),
                _ => None,
            },
            _ => None,
        };
        events.iter().filter_map(answered).collect()
    }

    /// How often the task was taken over from a process that died, without
    /// getting any further since.
    pub fn recoveries(&self) -> Recoveries {
        self.recoveries
    }

    /// Whether a cancellation is shown to the function, which may clean up.
    pub fn cleans_up(&self) -> bool {
        self.cancel_grace_ms.is_some()
    }

    /// What a request for cancellation adds to the journal: nothing once the
    /// task has ended or was cancelled before, and the end itself at once for
    /// a tool that does not clean up.
    pub fn cancel(&self) -> Vec<Event> {
        if self.snapshot.is_terminal() || self.cancel_requested {
            return Vec::new();
        }
        let mut events = vec![Event::CancelRequested];
        if self.cancel_grace_ms.is_none() {
            events.push(Event::Finished(Outcome::Cancelled));
        }
        events
    }

    /// What a signal adds to the journal: nothing once the task has ended.
    pub fn signal(&self, name: &str, value: &Arc<RawValue>) -> Vec<Event> {
        if self.snapshot.is_terminal() {
            return Vec::new();
        }
        vec![Event::Signalled {
            name: name.into(),
            value: value.clone(),
        }]
    }

    /// What the passing of time adds to the journal by `now`.
    pub fn elapse(&self, now: Timestamp) -> Vec<Event> {
        // Retention plays no part while a task lives.
        let outcome = match self.snapshot.due(super::Retention::UntilTtl) {
            Some((at, due)) if at <= now => match due {
                Due::Expiry => Outcome::Failed {
                    error: ProtocolError::internal(
                        "the task expired: it did not end within its time to live",
                    ),
                },
                Due::CancelDeadline => Outcome::Cancelled,
                Due::Deletion => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        vec![Event::Finished(outcome)]
    }
}
