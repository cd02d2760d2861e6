//! Points in time as the journal keeps them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// A point in time, in milliseconds since the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long it is from `earlier` to here; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// A later point in time; saturates at the end of time.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// ISO 8601 in UTC with milliseconds, as it stands on the wire (P10).
    pub fn to_iso_8601(self) -> String {
        // Years past chrono's range can only come from a ttl of ages.
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        DateTime::from_timestamp_millis(millis)
            .unwrap_or(DateTime::<chrono::Utc>::MAX_UTC)
            .to_rfc3339_opts(SecondsFormat::Millis, true)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(millis(since))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_millis(time.0)
    }
}

/// A duration in whole milliseconds, saturating.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_iso_8601() {
        let time = Timestamp::from_millis(1_764_443_045_678);
        assert_eq!(time.to_iso_8601(), "2025-11-29T19:04:05.678Z");
        assert!(
            Timestamp::from_millis(u64::MAX)
                .to_iso_8601()
                .ends_with('Z')
        );
    }
}
