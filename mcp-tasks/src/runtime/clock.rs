//! What time it is.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::time::Instant;

use crate::store::TaskStore;
use crate::task::Timestamp;

/// The clock of a runtime.
#[derive(Clone)]
pub(super) enum Clock {
    Host,
    /// One that goes with tokio's, which tests can stop and wind; it showed this
    /// time at this moment.
    Wound(Timestamp, Instant),
    /// That of a store which several machines share.
    Store(Arc<dyn TaskStore>),
}

impl Clock {
    /// A clock that goes with tokio's, and showed `start` at a moment of that.
    pub(super) fn with_tokio(start: SystemTime, moment: Instant) -> Self {
        Self::Wound(start.into(), moment)
    }

    /// This clock, or the store's if it has one, and nobody winds this one.
    pub(super) fn or_that_of(self, store: &Arc<dyn TaskStore>) -> Self {
        match self {
            Self::Host if store.clock().is_some() => Self::Store(store.clone()),
            clock => clock,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        match self {
            Self::Host => SystemTime::now().into(),
            Self::Wound(start, since) => start.plus_millis(crate::task::millis(since.elapsed())),
            Self::Store(store) => store.clock().unwrap_or_else(|| SystemTime::now().into()),
        }
    }

    /// When it will be `at`, for tokio's timers.
    pub(super) fn instant(&self, at: Timestamp) -> Instant {
        let ahead = at.since(self.now()).min(LONGEST);
        Instant::now() + ahead
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "Host",
            Self::Wound(..) => "Wound",
            Self::Store(_) => "Store",
        })
    }
}

/// As far as a timer is set at once; what is later comes up early.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 60 * 60);
