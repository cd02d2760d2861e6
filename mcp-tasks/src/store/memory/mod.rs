//! Tasks in memory: gone with the process.
//!
//! Each task has a lock of its own, so that what one task costs does not grow
//! with the number of others.

mod claims;
mod listing;
mod operations;
mod record;
mod sealing;
mod seats;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::watch;

use self::listing::Asking;
use self::record::Record;
use self::sealing::Sealing;
use self::seats::Lanes;
use super::{Change, Claim, Elapsed, LiveLimits, StoreError};
use crate::task::{Access, ByTask, Caller, Due, Entry, Event, Retention, TaskId, Timestamp};

/// A store that keeps everything in memory.
///
/// What a server uses when it is given no other. Nothing survives the process.
/// Several servers of one process can share a store through
/// [`share`](Self::share): each is a holder of its own, and what one leaves
/// behind another takes over.
pub struct MemoryStore {
    shared: Arc<Shared>,
    me: Mutex<Me>,
    /// Whether others may have to do with these tasks at all.
    sole: AtomicBool,
    /// How many of all that was appended this handle has appended itself.
    mine: AtomicU64,
    /// How much of what others have appended its holder has heard of.
    heard: AtomicU64,
    /// The last of the changes by others than the holder among which it has
    /// looked for its tasks.
    looked: AtomicU64,
    /// Whose the task is that was claimed last.
    last_claimed: Mutex<Caller>,
}

#[derive(Default)]
struct Shared {
    tasks: RwLock<ByTask<Arc<Mutex<Record>>>>,
    live: Mutex<Live>,
    /// Tasks with questions, by caller.
    asking: Mutex<Asking>,
    /// When time next does something to each task.
    agenda: Mutex<BTreeSet<(Timestamp, TaskId)>>,
    holders: Mutex<Holders>,
    /// Whether a task may ever have been without a holder.
    abandoned: AtomicBool,
    commits: AtomicU64,
    sealing: Mutex<Sealing>,
    lanes: Mutex<Lanes>,
    /// Counts what was changed by others than the holder.
    changes: AtomicU64,
    /// Counts everything that is appended, if there is more than one holder.
    appended: watch::Sender<u64>,
}

/// This handle's holder.
#[derive(Clone)]
struct Me {
    id: HolderId,
    server: Arc<(Arc<str>, Arc<str>)>,
    build: Arc<str>,
    lease_ms: u64,
    retention: Retention,
}

/// Every enlisting gets a number of its own.
type HolderId = u64;

/// The holder of a parked task.
const NOBODY: HolderId = 0;

#[derive(Default)]
struct Holders {
    last: HolderId,
    /// Until when the lease of each living holder holds.
    leases: HashMap<HolderId, Timestamp>,
}

/// How many tasks live, as a whole and by caller.
#[derive(Default)]
struct Live {
    total: usize,
    by_caller: HashMap<Caller, usize>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        let store = Self {
            shared: Arc::default(),
            me: Mutex::new(Me {
                id: NOBODY,
                server: Arc::new(("".into(), "".into())),
                build: "".into(),
                lease_ms: u64::MAX,
                retention: Retention::default(),
            }),
            sole: AtomicBool::new(true),
            mine: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            last_claimed: Mutex::new(Caller::anonymous()),
        };
        store.begin_anew(Timestamp::default());
        store
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        self.release();
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another holder of the same tasks, which outlive a server that uses either
    /// of the two.
    #[must_use]
    pub fn share(&self) -> Self {
        self.sole.store(false, Ordering::Relaxed);
        let store = Self {
            shared: self.shared.clone(),
            me: Mutex::new(self.me().clone()),
            sole: AtomicBool::new(false),
            mine: AtomicU64::new(0),
            heard: AtomicU64::new(*self.shared.appended.borrow()),
            looked: AtomicU64::new(self.shared.changes.load(Ordering::Relaxed)),
            last_claimed: Mutex::new(Caller::anonymous()),
        };
        store.begin_anew(Timestamp::default());
        store
    }

    /// Tells of everything that is appended from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.appended.subscribe()
    }

    fn me(&self) -> MutexGuard<'_, Me> {
        lock(&self.me)
    }

    /// Which holder this is, and how long it keeps what has ended.
    fn who(&self) -> (HolderId, Retention) {
        let me = self.me();
        (me.id, me.retention)
    }

    fn find(&self, id: &TaskId) -> Option<Arc<Mutex<Record>>> {
        let tasks = self
            .shared
            .tasks
            .read()
            .unwrap_or_else(PoisonError::into_inner);
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
        let mut record = lock(&record);
        if !access.may_see(&record.state.snapshot().caller) {
            return Ok(None);
        }
        f(&mut record).map(Some)
    }

    /// Appends what somebody has to say who need not be the holder.
    fn append_from_outside(
        &self,
        record: &mut Record,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<Change, StoreError> {
        let changed = !events.is_empty();
        let answered = record.state.answered_by(&events);
        let (me, retention) = self.who();
        if changed {
            let is_mine = record.holder == me;
            if !is_mine {
                // Before anybody is woken for it.
                self.shared.changes.fetch_add(1, Ordering::AcqRel);
            }
            record.unseen |= events.iter().any(Event::is_outcome);
            self.append(record, events, retention, now)?;
            if !record.is_live() {
                // Another holder must hear of it; this one is told now.
                record.unseen = !is_mine;
            }
        }
        let unclaimed =
            record.wake_at().is_some_and(|at| at <= now) && !self.is_held(record, me, now);
        Ok(Change {
            snapshot: record.state.snapshot().clone(),
            changed,
            answered,
            unclaimed,
        })
    }

    fn append(
        &self,
        record: &mut Record,
        events: impl IntoIterator<Item = Event>,
        retention: Retention,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        record.append(events, now)?;
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        self.tell_the_others();
        if !record.is_live() {
            let caller = &record.state.snapshot().caller;
            lock(&self.shared.live).remove(caller);
        }
        self.enter(record, record.next_due(retention));
        lock(&self.shared.asking).enter(record);
        Ok(())
    }

    /// Wakes the other holders that wait for news, if there can be any.
    fn tell_the_others(&self) {
        if !self.sole.load(Ordering::Relaxed) {
            self.mine.fetch_add(1, Ordering::AcqRel);
            self.shared.appended.send_modify(|count| *count += 1);
        }
    }

    /// Puts a task where it belongs in the agenda.
    fn enter(&self, record: &mut Record, due: Option<Timestamp>) {
        if record.due == due {
            return;
        }
        let id = &record.state.snapshot().id;
        let mut agenda = lock(&self.shared.agenda);
        if let Some(at) = record.due {
            agenda.remove(&(at, id.clone()));
        }
        if let Some(at) = due {
            agenda.insert((at, id.clone()));
        }
        record.due = due;
    }

    fn insert(&self, journal: Vec<Entry>, limits: LiveLimits) -> Result<Claim, StoreError> {
        let me = self.me().clone();
        let mut record = Record::new(journal, me.server, me.id)?;
        let snapshot = record.state.snapshot().clone();
        let id = snapshot.id.clone();
        lock(&self.shared.live).admit(snapshot.caller.clone(), limits)?;
        let claim = Claim {
            fencing: record.fencing,
            last: record.state.seq(),
            snapshot,
        };
        let due = record.next_due(me.retention);
        self.enter(&mut record, due);
        lock(&self.shared.asking).enter(&mut record);
        let mut tasks = self
            .shared
            .tasks
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        tasks.insert(id, Arc::new(Mutex::new(record)));
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        Ok(claim)
    }

    fn delete(&self, id: &TaskId) {
        let mut tasks = self
            .shared
            .tasks
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        tasks.remove(id);
        // A burst that is over should not hold on to its table.
        if tasks.len() < tasks.capacity() / 4 {
            let room = tasks.len() * 2;
            tasks.shrink_to(room);
        }
    }

    fn elapse_now(&self, limit: usize, now: Timestamp) -> Result<Elapsed, StoreError> {
        let retention = self.me().retention;
        let mut elapsed = Elapsed::default();
        for _ in 0..limit {
            let next = lock(&self.shared.agenda).first().cloned();
            let Some((at, id)) = next.filter(|(at, _)| *at <= now) else {
                break;
            };
            let Some(record) = self.find(&id) else {
                lock(&self.shared.agenda).remove(&(at, id));
                continue;
            };
            let mut record = lock(&record);
            let due = record.state.snapshot().due(retention);
            match due {
                Some((at, Due::Deletion)) if at <= now => {
                    self.enter(&mut record, None);
                    drop(record);
                    self.delete(&id);
                }
                Some((at, _)) if at <= now => {
                    let events = record.state.elapse(now);
                    elapsed
                        .changes
                        .push(self.append_from_outside(&mut record, events, now)?);
                }
                // It was changed by a holder that keeps tasks for longer.
                due => self.enter(&mut record, due.map(|(at, _)| at)),
            }
        }
        elapsed.next = lock(&self.shared.agenda).first().map(|(at, _)| *at);
        Ok(elapsed)
    }
}

impl Live {
    fn admit(&mut self, caller: Caller, limits: LiveLimits) -> Result<(), StoreError> {
        limits.check_total(self.total)?;
        if !caller.is_anonymous() {
            let count = self.by_caller.entry(caller).or_default();
            limits.check_caller(*count)?;
            *count += 1;
        }
        self.total += 1;
        Ok(())
    }

    fn remove(&mut self, caller: &Caller) {
        self.total -= 1;
        if let Some(count) = self.by_caller.get_mut(caller) {
            *count -= 1;
            if *count == 0 {
                self.by_caller.remove(caller);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
