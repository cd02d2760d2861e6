//! The tasks whose functions are in memory, and how to reach their drivers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::observe::figures;
use crate::task::{ByTask, TaskId};

/// The drivers that run in this process.
#[derive(Default)]
pub(super) struct KnownTasks {
    table: Mutex<Table>,
    /// Woken when the first driver comes.
    pub(super) first: Notify,
    /// Woken when the last one has gone.
    last: Notify,
}

#[derive(Default)]
struct Table {
    drivers: ByTask<Arc<Notify>>,
    /// How often somebody called for a driver that was not there.
    missed: u64,
}

/// A mark in the count of calls for drivers that were not there.
///
/// A task can change between its creation and the start of its driver. Calls
/// for it are then missed, and the count says so.
#[derive(Clone, Copy)]
pub(super) struct MissedCalls(u64);

impl KnownTasks {
    /// Enters a task whose driver starts. If anybody has been missed since
    /// `calls`, the driver is told that its journal may have grown.
    pub(super) fn enter(&self, id: &TaskId, driver: Arc<Notify>, calls: MissedCalls) {
        let mut table = self.lock();
        if table.missed != calls.0 {
            driver.notify_one();
        }
        let first = table.drivers.is_empty();
        table.drivers.insert(id.clone(), driver);
        figures::resident(table.drivers.len());
        drop(table);
        if first {
            self.first.notify_one();
        }
    }

    /// Tells a task's driver, if it has one, that its journal has grown.
    pub(super) fn poke(&self, id: &TaskId) {
        let mut table = self.lock();
        match table.drivers.get(id) {
            Some(driver) => driver.notify_one(),
            None => table.missed += 1,
        }
    }

    /// Tells every driver to look around.
    pub(super) fn poke_all(&self) {
        for driver in self.lock().drivers.values() {
            driver.notify_one();
        }
    }

    /// Waits until there is no driver.
    pub(super) async fn until_empty(&self) {
        while self.resident() > 0 {
            self.last.notified().await;
        }
    }

    /// The tasks that have drivers, in the order of their ids.
    pub(super) fn ids(&self) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = self.lock().drivers.keys().cloned().collect();
        ids.sort_unstable();
        ids
    }

    /// To be taken before a task becomes visible whose driver starts after.
    pub(super) fn missed_calls(&self) -> MissedCalls {
        MissedCalls(self.lock().missed)
    }

    /// Takes out a driver that is about to end, unless another has taken its
    /// place.
    pub(super) fn leave(&self, id: &TaskId, driver: &Arc<Notify>) {
        let mut table = self.lock();
        if !table
            .drivers
            .get(id)
            .is_some_and(|its| Arc::ptr_eq(its, driver))
        {
            return;
        }
        table.drivers.remove(id);
        figures::resident(table.drivers.len());
        if table.drivers.is_empty() {
            self.last.notify_one();
        }
        // A burst that is over should not hold on to its table.
        if table.drivers.len() < table.drivers.capacity() / 4 {
            let room = table.drivers.len() * 2;
            table.drivers.shrink_to(room);
        }
    }

    /// How many drivers there are.
    pub(super) fn resident(&self) -> usize {
        self.lock().drivers.len()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
