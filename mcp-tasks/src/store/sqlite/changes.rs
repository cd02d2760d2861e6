//! What happens to tasks: from their holders, from others, and by time.

use std::sync::Arc;

use rusqlite::OptionalExtension;
use serde_json::value::RawValue;

use super::journal;
use super::ledger::{Ledger, Task};
use super::row::{Row, Unseen, stored, time};
use super::schema::NEVER;
use super::trouble::Fault;
use crate::store::{
    Activity, Change, Claim, Commit, Delivery, Elapsed, LiveLimits, StoreError, begun,
};
use crate::task::{
    Access, Answer, Caller, Due, Entry, Event, FencingNumber, InputKey, Seq, TaskId, Timestamp,
};

/// A [`ToCommit`](crate::store::ToCommit) on its way to the writer.
pub(super) struct OwnedCommit {
    pub(super) id: TaskId,
    pub(super) fencing: FencingNumber,
    pub(super) last: Seq,
    pub(super) events: Vec<Event>,
    pub(super) then: Activity,
}

/// An [`Access`] on its way to another thread.
pub(super) struct OwnedAccess(Option<Caller>);

impl From<Access<'_>> for OwnedAccess {
    fn from(access: Access<'_>) -> Self {
        Self(match access {
            Access::Caller(caller) => Some(caller.clone()),
            Access::Server => None,
        })
    }
}

impl OwnedAccess {
    pub(super) fn get(&self) -> Access<'_> {
        self.0.as_ref().map_or(Access::Server, Access::Caller)
    }
}

impl Ledger {
    pub(super) fn begin_with(
        &mut self,
        journal: &[Entry],
        limits: LiveLimits,
    ) -> Result<Claim, Fault> {
        let me = self.me()?;
        let state = begun(journal)?;
        let caller = &state.snapshot().caller;
        self.counts.check(&self.connection, caller, limits)?;
        self.begin_task(journal, state, &me)
    }

    pub(super) fn commit_entries(
        &mut self,
        commit: OwnedCommit,
        now: Timestamp,
    ) -> Result<Commit, Fault> {
        let Some(row) = self.find(&commit.id, Access::Server)? else {
            return Ok(Commit::Lost);
        };
        let me = self.me.as_ref().map(|me| me.id);
        if row.fencing != commit.fencing || Some(row.waking.holder) != me {
            return Ok(Commit::Lost);
        }
        if row.seq != commit.last {
            let missing = journal::read_after(
                &self.connection,
                &commit.id,
                row.task,
                row.end(),
                commit.last,
            )?;
            return Ok(Commit::Behind(missing));
        }
        let mut task = self.take_up(&commit.id, row)?;
        if commit
            .events
            .iter()
            .any(|event| matches!(event, Event::Held(_)))
        {
            task.row.hold();
        }
        task.append(commit.events, now)?;
        task.row.waking.unseen = Unseen::NOTHING;
        task.row.note(commit.then);
        let snapshot = task.snapshot().clone();
        self.put_down(task)?;
        Ok(Commit::Done(snapshot))
    }

    pub(super) fn deliver(
        &mut self,
        id: &TaskId,
        access: Access<'_>,
        answers: &[(InputKey, Box<RawValue>)],
        now: Timestamp,
    ) -> Result<Option<Delivery>, Fault> {
        let Some(row) = self.find(id, access)? else {
            return Ok(None);
        };
        let task = self.take_up(id, row)?;
        let answers: Vec<Answer<'_>> = answers
            .iter()
            .map(|(key, response)| Answer {
                key: key.clone(),
                response,
            })
            .collect();
        let delivery = match task.snapshot().judge(&answers) {
            Ok(events) => Delivery::Recorded(self.append_from_outside(task, events, now)?),
            Err(refusal) => {
                self.put_down(task)?;
                Delivery::Refused(refusal)
            }
        };
        Ok(Some(delivery))
    }

    pub(super) fn cancel(
        &mut self,
        id: &TaskId,
        access: Access<'_>,
        now: Timestamp,
    ) -> Result<Option<Change>, Fault> {
        let Some(row) = self.find(id, access)? else {
            return Ok(None);
        };
        let task = self.take_up(id, row)?;
        let events = task.state().map(crate::task::TaskState::cancel);
        self.append_from_outside(task, events.unwrap_or_default(), now)
            .map(Some)
    }

    pub(super) fn signal(
        &mut self,
        id: &TaskId,
        name: &str,
        value: &Arc<RawValue>,
        now: Timestamp,
    ) -> Result<Option<Change>, Fault> {
        let Some(row) = self.find(id, Access::Server)? else {
            return Ok(None);
        };
        let task = self.take_up(id, row)?;
        let events = task.state().map(|state| state.signal(name, value));
        self.append_from_outside(task, events.unwrap_or_default(), now)
            .map(Some)
    }

    /// Appends what somebody has to say who need not be the holder.
    fn append_from_outside(
        &mut self,
        mut task: Task,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<Change, Fault> {
        let changed = !events.is_empty();
        let state = task.state();
        let answered = state.map(|state| state.answered_by(&events));
        if changed {
            let is_news = events.iter().any(Event::is_outcome);
            task.append(events, now)?;
            let has_ended = task.snapshot().is_terminal();
            let unseen = &mut task.row.waking.unseen;
            if self.is_me(task.row.waking.holder) {
                if has_ended {
                    *unseen = Unseen::NOTHING;
                } else if is_news && *unseen == Unseen::NOTHING {
                    *unseen = Unseen::FROM_ITSELF;
                }
                self.to_hand_over
                    .push((task.id.clone(), task.entries.clone()));
            } else if is_news || has_ended {
                *unseen = Unseen::FROM_OTHERS;
            }
        }
        let snapshot = task.snapshot().clone();
        let row = self.put_down(task)?;
        let unclaimed = row.must_run(now) && !self.is_alive(row.waking.holder, now)?;
        Ok(Change {
            snapshot,
            changed,
            answered: answered.unwrap_or_default(),
            unclaimed,
        })
    }

    pub(super) fn elapse(&mut self, limit: usize, now: Timestamp) -> Result<Elapsed, Fault> {
        let due: Vec<TaskId> = self
            .connection
            .prepare_cached(
                "SELECT id FROM tasks WHERE due_at <= ?1 AND due_at < 9223372036854775807
                 ORDER BY due_at LIMIT ?2",
            )?
            .query_map(
                [stored(now), i64::try_from(limit).unwrap_or(i64::MAX)],
                |row| {
                    row.get_ref(0)?
                        .as_str()
                        .map(TaskId::from_text)
                        .map_err(Into::into)
                },
            )?
            .collect::<Result<_, _>>()?;
        let mut elapsed = Elapsed::default();
        for id in due {
            if let Some(row) = self.find(&id, Access::Server)? {
                match self.elapse_one(&id, row, now) {
                    Ok(change) => elapsed.changes.extend(change),
                    Err(Fault::Refused(error @ StoreError::Damaged { .. })) => {
                        self.set_aside(&id, &error)?;
                    }
                    Err(fault) => return Err(fault),
                }
            }
        }
        let next: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT due_at FROM tasks WHERE due_at < 9223372036854775807
                 ORDER BY due_at LIMIT 1",
            )?
            .query_row((), |row| row.get(0))
            .optional()?;
        elapsed.next = next.map(time);
        Ok(elapsed)
    }

    fn elapse_one(
        &mut self,
        id: &TaskId,
        row: Row,
        now: Timestamp,
    ) -> Result<Option<Change>, Fault> {
        let task = self.take_up(id, row)?;
        match task.snapshot().due(self.retention()) {
            Some((at, Due::Deletion)) if at <= now => {
                self.delete(id, &task.row)?;
                Ok(None)
            }
            Some((at, _)) if at <= now => {
                let events = task.state().map(|state| state.elapse(now));
                self.append_from_outside(task, events.unwrap_or_default(), now)
                    .map(Some)
            }
            // It was changed by a holder that keeps tasks for a shorter time:
            // putting it down puts it where it belongs.
            _ => self.put_down(task).map(|_| None),
        }
    }

    /// Leaves a task alone whose journal cannot be read, so that it does not
    /// stand in the way of others. It stays in the file.
    pub(super) fn set_aside(&mut self, id: &TaskId, error: &StoreError) -> Result<(), Fault> {
        tracing::error!(task = %id, "the task is left alone: {error}");
        self.write()
            .prepare_cached(
                "UPDATE tasks SET wake_at = ?2, due_at = ?2, distrust = 0, held = 0 WHERE id = ?1",
            )?
            .execute(rusqlite::params![id.as_str(), NEVER])?;
        self.know_no_more(id);
        Ok(())
    }
}
