//! The state machine: what may happen when.

use std::collections::HashMap;
use std::sync::Arc;

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyState {
    Asked,
    Answered,
    TimerSet,
    TimerFired,
    StepDone,
    Withdrawn,
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
        })
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
        self.seq = entry.seq;
        Arc::make_mut(&mut self.snapshot).updated_at = entry.at;
        Ok(())
    }

    /// Goes on to just before an entry; for a journal from which a store has
    /// dropped statuses that later ones took the place of.
    pub(crate) fn pass_over_to(&mut self, seq: Seq) {
        self.seq = self.seq.max(seq.saturating_sub(1));
    }

    fn transition(&mut self, event: &Event, at: Timestamp) -> Result<(), IllegalTransition> {
        match event {
            Event::Created(_) => return Err(IllegalTransition::CreatedTwice),
            Event::Asked { key, request } => {
                self.take_key(key, KeyState::Asked)?;
                self.change()
                    .input_requests
                    .push((key.clone(), request.clone()));
            }
            Event::Answered { key, .. } => {
                self.turn(key, &[KeyState::Asked], KeyState::Answered)?;
                self.no_longer_ask(key);
            }
            Event::StepDone { key, .. } => self.take_key(key, KeyState::StepDone)?,
            Event::TimerSet { key, .. } => self.take_key(key, KeyState::TimerSet)?,
            Event::TimerFired { key } => {
                self.turn(key, &[KeyState::TimerSet], KeyState::TimerFired)?;
            }
            Event::Withdrawn { key } => {
                let live = [KeyState::Asked, KeyState::TimerSet, KeyState::StepDone];
                self.turn(key, &live, KeyState::Withdrawn)?;
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
            Event::Finished(outcome) => {
                // Nothing follows that could use a key again.
                self.keys = HashMap::new();
                let snapshot = self.change();
                snapshot.input_requests.clear();
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

    fn turn(
        &mut self,
        key: &InputKey,
        from: &[KeyState],
        to: KeyState,
    ) -> Result<(), IllegalTransition> {
        match self.keys.get_mut(key) {
            Some(state) if from.contains(state) => {
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
