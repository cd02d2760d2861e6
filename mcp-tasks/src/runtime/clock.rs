//! What time it is.

use std::time::SystemTime;

use tokio::time::Instant;

use crate::task::Timestamp;

/// The clock of a runtime: the host's, or one that goes with tokio's, which
/// tests can stop and wind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    wound: Option<(Timestamp, Instant)>,
}

impl Clock {
    pub(super) const HOST: Self = Self { wound: None };

    /// A clock that goes with tokio's, and showed `start` at a moment of that.
    pub(super) fn with_tokio(start: SystemTime, moment: Instant) -> Self {
        Self {
            wound: Some((start.into(), moment)),
        }
    }

    pub(super) fn now(self) -> Timestamp {
        match self.wound {
            None => SystemTime::now().into(),
            Some((start, since)) => start.plus_millis(crate::task::millis(since.elapsed())),
        }
    }

    /// When it will be `at`, for tokio's timers.
    pub(super) fn instant(self, at: Timestamp) -> Instant {
        let ahead = at.since(self.now()).min(LONGEST);
        Instant::now() + ahead
    }
}

/// As far as a timer is set at once; what is later comes up early.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 60 * 60);
