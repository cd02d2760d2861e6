//! Whether this process may still run what it has claimed.
//!
//! A process that was suspended, or whose heartbeat does not get through, must
//! stop by itself: another may have taken over. So the lease is looked at
//! before a function runs on, on two clocks, of which one counts suspension.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;

/// The lease as this process knows it.
#[derive(Debug)]
pub(super) struct Lease {
    inner: Mutex<Inner>,
    renewed: Notify,
    /// Stores that do not outlive the process need none.
    needed: bool,
}

#[derive(Debug)]
struct Inner {
    until: Option<(Instant, SystemTime)>,
    epoch: Epoch,
}

/// Counts leases: what was claimed under an earlier one is another's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch(u64);

/// What a driver may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Held,
    /// The heartbeat is late: wait for it.
    Late,
    Lost,
}

impl Lease {
    pub(super) fn new(needed: bool) -> Self {
        Self {
            inner: Mutex::new(Inner {
                until: None,
                epoch: Epoch::default(),
            }),
            renewed: Notify::new(),
            needed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_needed(&self) -> bool {
        self.needed
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.lock().epoch
    }

    /// Notes that the lease holds for so long from a moment before it was
    /// asked for.
    pub(super) fn extend(&self, (instant, system): (Instant, SystemTime), lease: Duration) {
        self.lock().until = Some((instant + lease, system + lease));
        self.renewed.notify_waiters();
    }

    /// Notes that it was lost.
    pub(super) fn lose(&self) {
        let mut inner = self.lock();
        inner.epoch.0 += 1;
        inner.until = None;
        drop(inner);
        self.renewed.notify_waiters();
    }

    pub(super) fn standing(&self, epoch: Epoch) -> Standing {
        if !self.needed {
            return Standing::Held;
        }
        let inner = self.lock();
        if inner.epoch != epoch {
            return Standing::Lost;
        }
        match inner.until {
            Some((instant, system)) if Instant::now() < instant && SystemTime::now() < system => {
                Standing::Held
            }
            _ => Standing::Late,
        }
    }

    /// Waits until it is lost.
    pub(super) async fn lost(&self, epoch: Epoch) {
        loop {
            let mut renewed = std::pin::pin!(self.renewed.notified());
            renewed.as_mut().enable();
            if self.epoch() != epoch {
                return;
            }
            renewed.await;
        }
    }

    /// Waits until it is renewed or lost.
    pub(super) async fn settled(&self, epoch: Epoch) {
        loop {
            let mut renewed = std::pin::pin!(self.renewed.notified());
            renewed.as_mut().enable();
            if self.standing(epoch) != Standing::Late {
                return;
            }
            renewed.await;
        }
    }
}

/// Now, on both clocks.
pub(super) fn both_clocks() -> (Instant, SystemTime) {
    (Instant::now(), SystemTime::now())
}
