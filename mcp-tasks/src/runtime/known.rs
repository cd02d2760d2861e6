//! The tasks that this process has to do with: how to reach the driver of each
//! whose function is in memory, and what is due next for each.
//!
//! Both stand in one table, since every task that begins is entered for both.
//! A delay queue holds one entry per task, its next expiry or deletion: an idle
//! server wakes for none of them before its time.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

use super::Shared;
use crate::task::{TaskId, Timestamp};

/// The tasks that this process has to do with.
#[derive(Default)]
pub(super) struct KnownTasks {
    table: Arc<Mutex<Table>>,
    watch: OnceLock<AbortHandle>,
}

#[derive(Default)]
struct Table {
    tasks: HashMap<TaskId, Known>,
    queue: DelayQueue<TaskId>,
    /// How many have a driver.
    resident: usize,
    /// How often somebody called for a driver that was not there.
    missed: u64,
}

/// A task is in the table as long as there is something to know of it.
#[derive(Default)]
struct Known {
    driver: Option<Arc<Notify>>,
    timer: Option<(Key, Timestamp)>,
}

/// A mark in the count of calls for drivers that were not there.
///
/// A task can change between its creation and the start of its driver. Calls
/// for it are then missed, and the count says so.
#[derive(Clone, Copy)]
pub(super) struct MissedCalls(u64);

/// A delay queue takes no delay beyond about two years. What is due later
/// comes up early, is found not to be due, and is entered again.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl KnownTasks {
    /// Enters a task whose driver starts, and when something is first due for
    /// it. If anybody has been missed since `calls`, the driver is told that
    /// its journal may have grown.
    pub(super) fn enter(
        &self,
        shared: &Arc<Shared>,
        id: &TaskId,
        driver: Arc<Notify>,
        due: Option<Timestamp>,
        calls: MissedCalls,
    ) {
        let mut table = lock(&self.table);
        let Table {
            tasks,
            queue,
            resident,
            missed,
        } = &mut *table;
        if *missed != calls.0 {
            driver.notify_one();
        }
        let known = tasks.entry(id.clone()).or_default();
        known.driver = Some(driver);
        *resident += 1;
        if let Some(at) = due {
            known.set_timer(queue, id, at);
            drop(table);
            self.watch(shared);
        }
    }

    /// Tells a task's driver, if it has one, that its journal has grown.
    pub(super) fn poke(&self, id: &TaskId) {
        let mut table = lock(&self.table);
        match table.tasks.get(id).and_then(|known| known.driver.as_ref()) {
            Some(driver) => driver.notify_one(),
            None => table.missed += 1,
        }
    }

    /// To be taken before a task becomes visible whose driver starts after.
    pub(super) fn missed_calls(&self) -> MissedCalls {
        MissedCalls(lock(&self.table).missed)
    }

    /// Takes out the driver of a task, which has ended.
    pub(super) fn leave(&self, id: &TaskId) {
        let mut table = lock(&self.table);
        if let Some(known) = table.tasks.get_mut(id)
            && known.driver.take().is_some()
        {
            let forgotten = known.timer.is_none();
            table.resident -= 1;
            if forgotten {
                table.forget(id);
            }
        }
    }

    /// How many drivers there are.
    pub(super) fn resident(&self) -> usize {
        lock(&self.table).resident
    }

    /// Says when something is next due for a task.
    ///
    /// What was said before stays if it is earlier: it may have been said of a
    /// later state of the task. What comes up too early is entered again.
    pub(super) fn schedule(&self, shared: &Arc<Shared>, id: &TaskId, at: Timestamp) {
        let mut table = lock(&self.table);
        let Table { tasks, queue, .. } = &mut *table;
        let known = match tasks.get_mut(id) {
            Some(known) => known,
            None => tasks.entry(id.clone()).or_default(),
        };
        known.set_timer(queue, id, at);
        drop(table);
        self.watch(shared);
    }

    fn watch(&self, shared: &Arc<Shared>) {
        self.watch.get_or_init(|| {
            let watch = watch(self.table.clone(), Arc::downgrade(shared));
            tokio::spawn(watch).abort_handle()
        });
    }
}

impl Drop for KnownTasks {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.get() {
            watch.abort();
        }
    }
}

impl Table {
    /// Takes a task out. A burst that is over should not hold on to its table.
    fn forget(&mut self, id: &TaskId) {
        self.tasks.remove(id);
        if self.tasks.len() < self.tasks.capacity() / 4 {
            let room = self.tasks.len() * 2;
            self.tasks.shrink_to(room);
        }
    }

    /// Nor to its queue; only for the task that polls the queue, since the
    /// queue holds that task's waker.
    fn renew_queue(&mut self) {
        const WORTH_IT: usize = 1024;
        if self.queue.is_empty() && self.queue.capacity() > WORTH_IT {
            self.queue = DelayQueue::default();
        }
    }
}

impl Known {
    fn set_timer(&mut self, queue: &mut DelayQueue<TaskId>, id: &TaskId, at: Timestamp) {
        let delay = || at.since(Shared::now()).min(LONGEST);
        match &mut self.timer {
            Some((_, set)) if *set <= at => {}
            Some((key, set)) => {
                queue.reset(key, delay());
                *set = at;
            }
            None => self.timer = Some((queue.insert(id.clone(), delay()), at)),
        }
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn watch(table: Arc<Mutex<Table>>, shared: Weak<Shared>) {
    loop {
        let id = next(&table).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        shared.elapse(&id).await;
        // Many may come due at once; others want to run meanwhile.
        tokio::task::coop::consume_budget().await;
    }
}

/// Waits until something is due. An empty queue waits for its first entry.
async fn next(table: &Mutex<Table>) -> TaskId {
    poll_fn(|cx| {
        let mut table = lock(table);
        // The queue keeps the waker and wakes it for a new first entry.
        let Poll::Ready(Some(expired)) = table.queue.poll_expired(cx) else {
            return Poll::Pending;
        };
        let id = expired.into_inner();
        if let Some(known) = table.tasks.get_mut(&id) {
            known.timer = None;
            if known.driver.is_none() {
                table.forget(&id);
            }
        }
        table.renew_queue();
        Poll::Ready(id)
    })
    .await
}
