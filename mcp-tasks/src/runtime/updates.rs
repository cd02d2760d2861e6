//! What becomes of one task, for the server's own code.

use std::sync::Arc;

use super::Watch;
use crate::task::Snapshot;

/// The states of a task, one after the other; from
/// [`Tasks::subscribe`](super::Tasks::subscribe).
///
/// A state that another follows before it is asked for is passed over: however
/// slowly it is read, it takes no more memory, and the last state always comes.
/// It does not keep the server alive.
#[must_use = "nobody is told of a task unless asking for its next state"]
pub struct TaskUpdates {
    watch: Watch,
}

impl TaskUpdates {
    pub(super) fn new(watch: Watch) -> Self {
        Self { watch }
    }

    /// Waits for the next state: the first time that of now, then each that
    /// differs in more than the time of its last change. `None` after the task's
    /// end, or when the server is gone.
    ///
    /// A store that fails is asked again.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Arc<Snapshot>> {
        self.watch.next().await
    }
}

impl std::fmt::Debug for TaskUpdates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskUpdates").finish_non_exhaustive()
    }
}
