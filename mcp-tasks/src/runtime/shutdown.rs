//! Ending a server in good order: nothing new begins, what runs is put down
//! where nothing of it is lost, and others can take it up at once.

use std::time::Duration;

use tokio::time::timeout;

use super::Runtime;
use crate::protocol::ProtocolError;
use crate::store::StoreError;

impl Runtime {
    /// Ends the runtime's work in good order.
    ///
    /// From now on calls are refused (`-32603`, to be tried again elsewhere), and
    /// no task is taken up. Functions that are not inside a step are put down at
    /// once; a step that runs has `grace` to end, and its result is recorded.
    /// Then the claims on all tasks are given up, so that another process on the
    /// same store, or the next start of this one, goes on with them without delay.
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
        let all_left = shared.known.poke_until_empty();
        if timeout(grace, all_left).await.is_err() {
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
