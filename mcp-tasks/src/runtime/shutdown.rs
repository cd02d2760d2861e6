//! Ending a server in good order: nothing new begins, what runs is put down
//! where nothing of it is lost, and others can take it up at once.

use std::time::Duration;

use tokio::time::timeout;

use super::Runtime;
use crate::protocol::ProtocolError;
use crate::store::StoreError;

/// How often tasks are handed over while steps come to their ends.
const HAND_OVER_EVERY: Duration = Duration::from_millis(100);

impl Runtime {
    /// Ends the runtime's work in good order.
    ///
    /// From now on calls are refused (`-32603`, to be tried again elsewhere), and
    /// no task is taken up. Functions that are not inside a step are put down at
    /// once; a step that runs has `grace` to end, and its result is recorded.
    /// The claims on tasks are given up, so that another process on the same
    /// store, or the next start of this one, goes on with them without delay: in
    /// PostgreSQL as soon as each is put down, in a SQLite file when all are.
    /// Tasks in memory end with their process.
    ///
    /// Reading, answering and cancelling tasks works until the process ends.
    ///
    /// # Errors
    ///
    /// Whatever the store says; then others take over when the lease is over.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the runtime without new work, and its claims
    /// where they are.
    pub async fn shut_down(&self, grace: Duration) -> Result<(), StoreError> {
        let shared = &self.shared;
        shared.stop.cancel();
        if timeout(grace, self.put_down()).await.is_err() {
            tracing::warn!(
                tasks = shared.known.resident(),
                "steps still run after the time that they had to end; they run again elsewhere"
            );
        }
        shared.loops.stop();
        shared.lease.lose();
        shared.known.poke_all();
        if !shared.lease.is_needed() {
            return Ok(());
        }
        shared.store.leave().await
    }

    /// Waits until all functions have been put down; hands over those that have
    /// meanwhile.
    async fn put_down(&self) {
        let shared = &self.shared;
        shared.known.poke_all();
        let mut handed_over = None;
        while timeout(HAND_OVER_EVERY, shared.known.until_empty())
            .await
            .is_err()
        {
            let kept = shared.known.ids();
            if handed_over.as_ref() == Some(&kept) {
                continue;
            }
            match shared.store.hand_over(&kept).await {
                Ok(()) => handed_over = Some(kept),
                Err(error) => tracing::warn!(%error, "could not hand over tasks, trying again"),
            }
        }
    }

    /// Whether [`shut_down`](Self::shut_down) has begun.
    pub(super) fn refuse_if_stopping(&self) -> Result<(), ProtocolError> {
        if self.shared.stop.is_cancelled() {
            return Err(ProtocolError::internal(
                "the server is shutting down: try again in a moment",
            ));
        }
        Ok(())
    }
}
