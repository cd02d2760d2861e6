//! The database's clock, as it is known here.
//!
//! Replicas agree on the time by asking the database, and not each its own host.
//! It is asked with every heartbeat; in between, the time passes here as it does
//! on this host. So it is right to within one round trip.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::task::{Timestamp, millis};

/// A clock that is set now and again.
pub(super) struct Clock(Mutex<Reading>);

#[derive(Clone, Copy)]
struct Reading {
    time: Timestamp,
    at: Instant,
}

impl Reading {
    fn at(self, moment: Instant) -> Timestamp {
        let since = moment.saturating_duration_since(self.at);
        self.time.plus_millis(millis(since))
    }
}

impl Clock {
    /// A clock that shows `time`.
    pub(super) fn new(time: Timestamp) -> Self {
        Self(Mutex::new(Reading {
            time,
            at: Instant::now(),
        }))
    }

    pub(super) fn now(&self) -> Timestamp {
        let reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reading.at(Instant::now())
    }

    /// Takes in that the database's clock showed `time` at some moment since
    /// `asked`. The clock moves only if it was outside of that.
    pub(super) fn set(&self, time: Timestamp, asked: Instant) {
        let now = Instant::now();
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = time.plus_millis(millis(now.saturating_duration_since(asked)));
        let shown = reading.at(now);
        if shown < time || shown > latest {
            *reading = Reading {
                time: shown.clamp(time, latest),
                at: now,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_is_moved_no_further_than_it_must() {
        let asked = Instant::now();
        let clock = Clock::new(Timestamp::from_millis(1_000_000));
        let a_second_ago = asked.checked_sub(Duration::from_secs(1)).unwrap();
        // It may have been anywhere between 999,500 and 1,000,500 and more.
        clock.set(Timestamp::from_millis(999_500), a_second_ago);
        let shown = clock.now().as_millis();
        assert!((1_000_000..1_000_400).contains(&shown), "{shown}");
        clock.set(Timestamp::from_millis(2_000_000), Instant::now());
        let shown = clock.now().as_millis();
        assert!((2_000_000..2_000_400).contains(&shown), "{shown}");
    }
}
