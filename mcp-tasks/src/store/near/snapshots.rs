//! Snapshots that need not be put together from their text.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recent::Recent;
use crate::task::{Seq, Snapshot, TaskId};

/// How many are kept at least, and how long they may be as text.
const SNAPSHOTS: usize = 1024;
const LONGEST: usize = 16 << 10;

/// Snapshots by the last entry that they take in; a shared handle.
///
/// Whether one is still its task's only the file can tell: a task of which it
/// gives the same number is as it was.
#[derive(Clone)]
pub(in crate::store) struct Snapshots(Arc<Mutex<Recent<Brief>>>);

/// A snapshot that is worth keeping.
pub(in crate::store) struct Brief {
    seq: Seq,
    snapshot: Arc<Snapshot>,
}

impl Brief {
    /// A snapshot that takes in all up to `seq`; none if its text is long.
    pub(in crate::store) fn new(seq: Seq, snapshot: &Arc<Snapshot>, text: &str) -> Option<Self> {
        let snapshot = snapshot.clone();
        (text.len() <= LONGEST).then_some(Self { seq, snapshot })
    }
}

impl Default for Snapshots {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Recent::new(SNAPSHOTS))))
    }
}

impl Snapshots {
    fn lock(&self) -> MutexGuard<'_, Recent<Brief>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::store) fn put(&self, briefs: impl Iterator<Item = Brief>) {
        let mut snapshots = self.lock();
        for brief in briefs {
            snapshots.put(brief.snapshot.id.clone(), brief);
        }
    }

    /// The snapshot that takes in all up to `seq`.
    pub(in crate::store) fn get(&self, id: &TaskId, seq: Seq) -> Option<Arc<Snapshot>> {
        let snapshots = self.lock();
        let known = snapshots.get(id)?;
        (known.seq == seq).then(|| known.snapshot.clone())
    }

    /// The newest snapshot that is kept of a task, and what it takes in.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "a file is read at once")
    )]
    pub(in crate::store) fn newest(&self, id: &TaskId) -> Option<(Seq, Arc<Snapshot>)> {
        let snapshots = self.lock();
        let known = snapshots.get(id)?;
        Some((known.seq, known.snapshot.clone()))
    }
}
