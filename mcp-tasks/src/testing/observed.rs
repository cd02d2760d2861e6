//! What a task's function has done.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::MemoryStore;
use crate::store::{Commit, StoreFuture, StoreLayer, TaskStore, ToCommit};
use crate::task::{Event, Timestamp};

/// Everything that functions have recorded, also what journals do not keep; a
/// shared handle.
#[derive(Clone, Default)]
pub(super) struct Record(Arc<Mutex<Vec<Event>>>);

impl Record {
    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `of` makes of each event, in order.
    pub(super) fn all<T>(&self, of: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        self.lock().iter().filter_map(of).collect()
    }
}

/// The memory store, with everything that is committed written down.
pub(super) struct Observed {
    pub(super) inner: MemoryStore,
    pub(super) record: Record,
}

impl StoreLayer for Observed {
    fn inner(&self) -> &dyn TaskStore {
        &self.inner
    }

    fn commit<'a>(&'a self, commit: &'a ToCommit<'a>, now: Timestamp) -> StoreFuture<'a, Commit> {
        StoreFuture::new(async move {
            let committed = self.inner.commit(commit, now).await?;
            if let Commit::Done(_) = committed {
                self.record.lock().extend_from_slice(commit.events);
            }
            Ok(committed)
        })
    }
}
