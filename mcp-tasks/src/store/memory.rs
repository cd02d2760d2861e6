//! Tasks in memory: gone with the process.
//!
//! Each task has a lock of its own, so that what one task costs does not grow
//! with the number of others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::{
    Change, Claim, Commit, Delivery, LiveLimits, StoreError, StoreFuture, StoreStats, TaskStore,
};
use crate::task::{
    Access, Answer, Caller, Created, Due, Entry, Event, FencingNumber, Retention, Seq, Snapshot,
    TaskId, TaskState, Timestamp,
};

/// A store that keeps everything in memory.
///
/// What a server uses when it is given no other. Nothing survives the process;
/// there is nothing to lose a task to but its end.
#[derive(Default)]
pub struct MemoryStore {
    tasks: RwLock<HashMap<TaskId, Arc<Mutex<Record>>>>,
    live: Mutex<Live>,
    commits: AtomicU64,
}

struct Record {
    state: TaskState,
    /// Without the statuses that a later one has taken the place of: a task may
    /// say for days how it gets on.
    journal: Vec<Entry>,
    /// Where in the journal the last status is.
    status: Option<usize>,
}

/// How many tasks live, as a whole and by caller.
#[derive(Default)]
struct Live {
    total: usize,
    by_caller: HashMap<Caller, usize>,
}

/// A task in memory is claimed once, by its creator.
const ONLY_CLAIM: FencingNumber = FencingNumber(1);

/// A call that asks once: created, asked, answered, finished.
const USUAL_ENTRIES: usize = 4;

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, id: &TaskId) -> Option<Arc<Mutex<Record>>> {
        let tasks = self.tasks.read().unwrap_or_else(PoisonError::into_inner);
        tasks.get(id).cloned()
    }

    /// Runs `f` on a task that exists for `access`.
    fn with<T>(
        &self,
        id: &TaskId,
        access: Access<'_>,
        f: impl FnOnce(&mut Record) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(record) = self.find(id) else {
            return Ok(None);
        };
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        if !access.may_see(&record.state.snapshot().caller) {
            return Ok(None);
        }
        f(&mut record).map(Some)
    }

    /// Appends events in one go; all or none.
    fn append(
        &self,
        record: &mut Record,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<Change, StoreError> {
        if events.is_empty() {
            return Ok(Change {
                snapshot: record.state.snapshot().clone(),
                changed: false,
            });
        }
        let before = record.journal.len();
        for event in events {
            let entry = Entry {
                seq: record.state.seq() + 1,
                at: now,
                event,
            };
            if let Err(illegal) = record.state.apply(&entry) {
                let id = record.state.snapshot().id.clone();
                let damaged = |reason: crate::task::IllegalTransition| StoreError::Damaged {
                    id: id.clone(),
                    reason: reason.to_string(),
                };
                if record.journal.len() > before {
                    record.journal.truncate(before);
                    record.state = replay(&record.journal).map_err(damaged)?;
                }
                return Err(damaged(illegal));
            }
            record.journal.push(entry);
        }
        record.drop_old_status(before);
        self.commits.fetch_add(1, Ordering::Relaxed);
        let snapshot = record.state.snapshot().clone();
        if snapshot.is_terminal() {
            self.no_longer_live(&snapshot.caller);
            record.forget_the_past();
        }
        Ok(Change {
            snapshot,
            changed: true,
        })
    }

    fn live(&self) -> std::sync::MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_longer_live(&self, caller: &Caller) {
        let mut live = self.live();
        live.total -= 1;
        if let Some(count) = live.by_caller.get_mut(caller) {
            *count -= 1;
            if *count == 0 {
                live.by_caller.remove(caller);
            }
        }
    }

    fn insert(
        &self,
        created: Created,
        limits: LiveLimits,
        now: Timestamp,
    ) -> Result<Claim, StoreError> {
        let id = created.id.clone();
        let caller = created.caller.clone();
        let first = Entry {
            seq: 1,
            at: now,
            event: Event::Created(Box::new(created)),
        };
        let state = TaskState::new(&first).map_err(|illegal| StoreError::Damaged {
            id: id.clone(),
            reason: illegal.to_string(),
        })?;
        self.live().admit(caller, limits)?;
        let snapshot = state.snapshot().clone();
        let mut journal = Vec::with_capacity(USUAL_ENTRIES);
        journal.push(first);
        let record = Record {
            state,
            journal,
            status: None,
        };
        let mut tasks = self.tasks.write().unwrap_or_else(PoisonError::into_inner);
        tasks.insert(id, Arc::new(Mutex::new(record)));
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(Claim {
            fencing: ONLY_CLAIM,
            snapshot,
        })
    }

    fn delete(&self, id: &TaskId) {
        let mut tasks = self.tasks.write().unwrap_or_else(PoisonError::into_inner);
        tasks.remove(id);
        // A burst that is over should not hold on to its table.
        if tasks.len() < tasks.capacity() / 4 {
            let room = tasks.len() * 2;
            tasks.shrink_to(room);
        }
    }
}

impl Live {
    fn admit(&mut self, caller: Caller, limits: LiveLimits) -> Result<(), StoreError> {
        if self.total >= limits.total {
            return Err(StoreError::Full(format!(
                "the server already runs {} tasks, its limit; try again later",
                limits.total
            )));
        }
        if !caller.is_anonymous() {
            let count = self.by_caller.entry(caller).or_default();
            if *count >= limits.per_caller {
                return Err(StoreError::Full(format!(
                    "you already have {} live tasks, the limit; finish or cancel one first",
                    limits.per_caller
                )));
            }
            *count += 1;
        }
        self.total += 1;
        Ok(())
    }
}

fn replay(journal: &[Entry]) -> Result<TaskState, crate::task::IllegalTransition> {
    let (first, rest) = journal
        .split_first()
        .ok_or(crate::task::IllegalTransition::NotCreated)?;
    let mut state = TaskState::new(first)?;
    for entry in rest {
        state.pass_over_to(entry.seq);
        state.apply(entry)?;
    }
    Ok(state)
}

impl TaskStore for MemoryStore {
    fn is_durable(&self) -> bool {
        false
    }

    fn create(
        &self,
        created: Created,
        limits: LiveLimits,
        now: Timestamp,
    ) -> StoreFuture<'_, Claim> {
        StoreFuture::ready(self.insert(created, limits, now))
    }

    fn get<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
    ) -> StoreFuture<'a, Option<Arc<Snapshot>>> {
        StoreFuture::ready(self.with(id, access, |record| Ok(record.state.snapshot().clone())))
    }

    fn read<'a>(&'a self, id: &'a TaskId, last: Seq) -> StoreFuture<'a, Vec<Entry>> {
        StoreFuture::ready(
            self.with(id, Access::Server, |record| Ok(record.after(last)))
                .map(Option::unwrap_or_default),
        )
    }

    fn commit<'a>(
        &'a self,
        id: &'a TaskId,
        fencing: FencingNumber,
        last: Seq,
        events: &'a [Event],
        now: Timestamp,
    ) -> StoreFuture<'a, Commit> {
        if fencing != ONLY_CLAIM {
            return StoreFuture::ready(Ok(Commit::Lost));
        }
        let committed = self.with(id, Access::Server, |record| {
            if record.state.seq() != last {
                return Ok(Commit::Behind(record.after(last)));
            }
            self.append(record, events.to_vec(), now)
                .map(|change| Commit::Done(change.snapshot))
        });
        StoreFuture::ready(committed.map(|commit| commit.unwrap_or(Commit::Lost)))
    }

    fn deliver<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        answers: &'a [Answer<'a>],
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Delivery>> {
        StoreFuture::ready(self.with(id, access, |record| {
            match record.state.snapshot().judge(answers) {
                Ok(events) => self.append(record, events, now).map(Delivery::Recorded),
                Err(refusal) => Ok(Delivery::Refused(refusal)),
            }
        }))
    }

    fn cancel<'a>(
        &'a self,
        id: &'a TaskId,
        access: Access<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        StoreFuture::ready(self.with(id, access, |record| {
            let events = record.state.cancel();
            self.append(record, events, now)
        }))
    }

    fn elapse<'a>(
        &'a self,
        id: &'a TaskId,
        retention: Retention,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Change>> {
        let change = self.with(id, Access::Server, |record| {
            let snapshot = record.state.snapshot();
            if matches!(snapshot.due(retention), Some((at, Due::Deletion)) if at <= now) {
                return Ok(None);
            }
            let events = record.state.elapse(now);
            self.append(record, events, now).map(Some)
        });
        if matches!(change, Ok(Some(None))) {
            self.delete(id);
        }
        StoreFuture::ready(change.map(Option::flatten))
    }

    fn stats(&self) -> StoreFuture<'_, StoreStats> {
        let tasks = self.tasks.read().unwrap_or_else(PoisonError::into_inner);
        let bytes = tasks
            .values()
            .map(|record| {
                let record = record.lock().unwrap_or_else(PoisonError::into_inner);
                record.journal.iter().map(Entry::weight).sum::<u64>()
            })
            .sum();
        let stored = tasks.len() as u64;
        drop(tasks);
        StoreFuture::ready(Ok(StoreStats {
            live: self.live().total as u64,
            stored,
            commits: self.commits.load(Ordering::Relaxed),
            bytes,
        }))
    }
}

impl Record {
    fn after(&self, last: Seq) -> Vec<Entry> {
        let from = self.journal.partition_point(|entry| entry.seq <= last);
        self.journal[from..].to_vec()
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
        self.journal.drain(..self.journal.len() - 1);
        self.journal.shrink_to_fit();
    }
}
