//! Who watches which tasks.
//!
//! Whoever changes a task says only that it has changed. A watcher keeps a set
//! of such tasks, and reads each when it is ready to: so it costs no more than
//! the set, however often they change, and misses no last state.

use std::collections::hash_map::Entry;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::task::{ByTask, TaskId};

/// All watchers of a runtime; when it goes, they are told that nothing more
/// comes.
#[derive(Default)]
pub(in crate::runtime) struct Watchers {
    by_task: Mutex<ByTask<Vec<Arc<Changed>>>>,
    /// How many tasks are watched: a change of any other costs one look at this.
    watched: AtomicUsize,
    /// Told of every change, whichever task it is of.
    all: watch::Sender<()>,
    /// Woken when the first comes.
    pub(in crate::runtime) first: Notify,
}

/// The tasks that have changed since one watcher last read them.
#[derive(Default)]
pub(super) struct Changed {
    set: Mutex<Set>,
    /// Woken when the set is not empty, or closed.
    woken: Notify,
}

/// In the order in which they first changed.
#[derive(Default)]
struct Set {
    order: VecDeque<TaskId>,
    members: HashSet<TaskId>,
    closed: bool,
}

impl Changed {
    fn lock(&self) -> MutexGuard<'_, Set> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, id: &TaskId) {
        let mut set = self.lock();
        if set.members.insert(id.clone()) {
            set.order.push_back(id.clone());
            self.woken.notify_one();
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.woken.notify_one();
    }

    /// Waits for a task that has changed and takes it out; `None` once there is
    /// nobody left to say so. Dropping it loses nothing.
    pub(super) async fn next(&self) -> Option<TaskId> {
        loop {
            let woken = self.woken.notified();
            {
                let mut set = self.lock();
                if set.closed {
                    return None;
                }
                if let Some(id) = set.order.pop_front() {
                    set.members.remove(&id);
                    return Some(id);
                }
            }
            woken.await;
        }
    }
}

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, ByTask<Vec<Arc<Changed>>>> {
        self.by_task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a watcher of a task, to which the task counts as changed.
    pub(super) fn enter(&self, id: &TaskId, watcher: &Arc<Changed>) {
        let mut by_task = self.lock();
        by_task.entry(id.clone()).or_default().push(watcher.clone());
        let first = by_task.len() == 1;
        self.watched.store(by_task.len(), Ordering::SeqCst);
        drop(by_task);
        // What changes from here on is told; what changed before will be read.
        watcher.add(id);
        if first {
            self.first.notify_one();
        }
    }

    pub(super) fn leave(&self, id: &TaskId, watcher: &Arc<Changed>) {
        let mut by_task = self.lock();
        if let Entry::Occupied(mut watching) = by_task.entry(id.clone()) {
            watching
                .get_mut()
                .retain(|other| !Arc::ptr_eq(other, watcher));
            if watching.get().is_empty() {
                watching.remove();
            }
        }
        self.watched.store(by_task.len(), Ordering::SeqCst);
        // A burst that is over should not hold on to its table.
        if by_task.len() < by_task.capacity() / 4 {
            let room = by_task.len() * 2;
            by_task.shrink_to(room);
        }
    }

    /// Hears of every change, without being told of which task it is.
    #[cfg(feature = "http")]
    pub(in crate::runtime) fn all(&self) -> watch::Receiver<()> {
        let all = self.all.subscribe();
        self.first.notify_one();
        all
    }

    /// Tells the watchers of a task that it has changed.
    pub(in crate::runtime) fn changed(&self, id: &TaskId) {
        if self.are_none() {
            return;
        }
        self.all.send_replace(());
        for watcher in self.lock().get(id).into_iter().flatten() {
            watcher.add(id);
        }
    }

    /// Tells all watchers that any task may have changed.
    pub(in crate::runtime) fn any_may_have_changed(&self) {
        if self.are_none() {
            return;
        }
        self.all.send_replace(());
        for (id, watchers) in &*self.lock() {
            for watcher in watchers {
                watcher.add(id);
            }
        }
    }

    pub(in crate::runtime) fn are_none(&self) -> bool {
        self.watched.load(Ordering::SeqCst) == 0 && self.all.receiver_count() == 0
    }

    /// Tells all watchers that nothing more comes.
    pub(in crate::runtime) fn close(&self) {
        self.all.send_replace(());
        for watcher in self.lock().values().flatten() {
            watcher.close();
        }
    }
}
