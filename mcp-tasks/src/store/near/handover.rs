//! Entries on their way to drivers of this process.
//!
//! Most answers come to the process that runs their task. What it has just
//! written it need not read again: it lies here until the driver asks for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recent::Recent;
use crate::task::{Entry, Seq, TaskId};

/// For how many tasks at least something is kept; a driver that comes too late
/// reads the file.
const TASKS: usize = 512;

/// What has been committed and its driver has not fetched; a shared handle.
#[derive(Clone)]
pub(in crate::store) struct Handover(Arc<Mutex<Recent<Vec<Entry>>>>);

impl Default for Handover {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Recent::new(TASKS))))
    }
}

impl Handover {
    fn lock(&self) -> MutexGuard<'_, Recent<Vec<Entry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::store) fn put(&self, id: TaskId, mut entries: Vec<Entry>) {
        let mut waiting = self.lock();
        let next = entries.first().map(|entry| entry.seq);
        if let Some(mut before) = waiting.take(&id)
            && before.last().map(|entry| entry.seq + 1) == next
        {
            before.append(&mut entries);
            entries = before;
        }
        waiting.put(id, entries);
    }

    /// Takes what comes right after `last`.
    pub(in crate::store) fn take(&self, id: &TaskId, last: Seq) -> Option<Vec<Entry>> {
        let entries = self.lock().take(id)?;
        let fits = entries.first().is_some_and(|entry| entry.seq == last + 1);
        fits.then_some(entries)
    }

    /// Somebody else has written to this task.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "a file does not say which")
    )]
    pub(in crate::store) fn forget(&self, id: &TaskId) {
        self.lock().take(id);
    }

    /// Somebody else has written, perhaps after what lies here: whoever hears of
    /// that must not be content with it.
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "a database says which")
    )]
    pub(in crate::store) fn clear(&self) {
        self.lock().clear();
    }
}
