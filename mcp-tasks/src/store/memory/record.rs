//! One task in memory: its journal, and who runs it.

use std::sync::Arc;

use super::{HolderId, NOBODY};
use crate::store::{Activity, StoreError, begun};
use crate::task::{
    Entry, Event, FencingNumber, IllegalTransition, Retention, Seq, TaskState, Timestamp,
};

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that a holder has stated"
)]
pub(super) struct Record {
    pub(super) state: TaskState,
    /// Without the statuses that a later one has taken the place of: a task may
    /// say for days how it gets on.
    journal: Vec<Entry>,
    /// Where in the journal the last status is.
    status: Option<usize>,
    /// The name and scope of the server that it belongs to.
    pub(super) server: Arc<(Arc<str>, Arc<str>)>,
    pub(super) holder: HolderId,
    pub(super) fencing: FencingNumber,
    /// Whether the function was running when its holder last said so.
    pub(super) running: bool,
    /// Whether it has to run and waits until it may.
    queued: bool,
    /// Whether others have appended something that the holder has not seen.
    pub(super) unseen: bool,
    /// Who could not run it, so that none of them tries again.
    pub(super) held_by: Vec<HolderId>,
    /// Whether it is listed as one that asks.
    pub(super) asks: bool,
    /// Where it stands in the store's agenda.
    pub(super) due: Option<Timestamp>,
}

impl Record {
    /// A task that has just begun and is claimed by its creator.
    pub(super) fn new(
        journal: Vec<Entry>,
        server: Arc<(Arc<str>, Arc<str>)>,
        holder: HolderId,
    ) -> Result<Self, StoreError> {
        let state = begun(&journal)?;
        let is_status = |entry: &Entry| matches!(entry.event, Event::Status { .. });
        let status = journal.iter().rposition(is_status);
        Ok(Self {
            state,
            journal,
            status,
            server,
            holder,
            fencing: FencingNumber(1),
            running: true,
            queued: false,
            unseen: false,
            held_by: Vec::new(),
            asks: false,
            due: None,
        })
    }

    /// Appends events in one go; all or none.
    pub(super) fn append(
        &mut self,
        events: impl IntoIterator<Item = Event>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let before = self.journal.len();
        for event in events {
            let entry = Entry {
                seq: self.state.seq() + 1,
                at: now,
                event,
            };
            if let Err(illegal) = self.state.apply(&entry) {
                return Err(self.roll_back(before, &illegal));
            }
            self.journal.push(entry);
        }
        self.drop_old_status(before);
        if self.state.snapshot().is_terminal() {
            self.forget_the_past();
        }
        Ok(())
    }

    fn roll_back(&mut self, length: usize, illegal: &IllegalTransition) -> StoreError {
        let id = self.state.snapshot().id.clone();
        if self.journal.len() > length {
            self.journal.truncate(length);
            match TaskState::replay(&self.journal) {
                Ok(state) => self.state = state,
                Err(illegal) => return StoreError::damaged(&id, &illegal),
            }
        }
        StoreError::damaged(&id, illegal)
    }

    /// Notes what the function does.
    pub(super) fn note(&mut self, then: Activity) {
        self.running = then == Activity::Running;
        self.queued = then == Activity::Queued;
        if then == Activity::Parked {
            self.holder = NOBODY;
        }
    }

    pub(super) fn is_live(&self) -> bool {
        !self.state.snapshot().is_terminal()
    }

    /// When somebody must run the function: now, at some time, or not before
    /// something arrives.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        if self.state.snapshot().held.is_some() || !self.is_live() {
            return None;
        }
        if self.running || self.queued || self.unseen {
            return Some(Timestamp::default());
        }
        self.state.next_timer()
    }

    /// When time next does something to the task.
    pub(super) fn next_due(&self, retention: Retention) -> Option<Timestamp> {
        self.state.snapshot().due(retention).map(|(at, _)| at)
    }

    pub(super) fn after(&self, last: Seq) -> Vec<Entry> {
        let from = self.journal.partition_point(|entry| entry.seq <= last);
        self.journal[from..].to_vec()
    }

    pub(super) fn weight(&self) -> u64 {
        self.journal.iter().map(Entry::weight).sum()
    }

    /// Drops the status that one at or after `from` has taken the place of.
    fn drop_old_status(&mut self, from: usize) {
        let is_status = |entry: &Entry| matches!(entry.event, Event::Status { .. });
        let Some(new) = self.journal[from..].iter().rposition(is_status) else {
            return;
        };
        let new = from + new;
        self.status = Some(match self.status {
            Some(old) => {
                self.journal.remove(old);
                new - 1
            }
            None => new,
        });
    }

    /// Drops everything of an ended task's journal but its end: nobody will run
    /// it again, and what it was asked and told should not stay longer than it
    /// must.
    fn forget_the_past(&mut self) {
        self.status = None;
        self.running = false;
        self.journal.drain(..self.journal.len() - 1);
        self.journal.shrink_to_fit();
    }
}
