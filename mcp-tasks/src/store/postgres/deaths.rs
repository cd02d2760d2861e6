//! When the next holder is dead, unless it is heard of before.
//!
//! With each heartbeat a holder learns when the first of the others' leases will be
//! over. As long as all live, that moves on with the next heartbeat; if it comes, it
//! is looked at then, and what the dead one ran goes on within one lease.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::ledger::Ledger;

/// The database's clock goes in milliseconds, and says that a lease is over in the
/// one after.
const THEN_SOME: Duration = Duration::from_millis(5);

/// The next death that is to be expected.
#[derive(Default)]
pub(super) struct Deaths {
    next: Mutex<Option<Instant>>,
    moved: Notify,
}

impl Deaths {
    /// Expects the next death in so long, or none.
    pub(super) fn expect(&self, after: Option<Duration>) {
        let next = after.map(|after| Instant::now() + after + THEN_SOME);
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
        self.moved.notify_one();
    }

    async fn come(&self) {
        loop {
            let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let comes = async {
                match next {
                    Some(next) => sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.moved.notified() => {}
                () = comes => return,
            }
        }
    }
}

/// Buries those that die, each on time, for as long as the store is there.
pub(super) async fn bury_on_time(ledger: Weak<Ledger>, deaths: Arc<Deaths>) {
    loop {
        deaths.come().await;
        deaths.expect(None);
        let Some(ledger) = ledger.upgrade() else {
            return;
        };
        if let Err(error) = ledger.bury_the_late().await {
            tracing::debug!(%error, "the dead could not be looked for; the next heartbeat will");
        }
    }
}
