//! How often a server is asked.

use std::time::Duration;

/// What is waited between two polls if the server does not say.
pub(in crate::client) const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// The least that is waited, so that a mistake of the server's does not keep both
/// sides busy (P81).
const FLOOR: Duration = Duration::from_millis(100);

/// The most that is waited: a server that says more has made a mistake, which must
/// not make its tasks endless.
const CEILING: Duration = Duration::from_secs(24 * 3600);

/// How often a task is looked at whose server tells of it by itself: what it
/// told may have been lost.
const BESIDES: Duration = Duration::from_secs(30);

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// How long to wait before the next poll: no less than the server says, and a
/// little more, so that many clients do not come at once.
pub(super) fn interval(told: Duration, is_listening: bool) -> Duration {
    let least = if is_listening { BESIDES } else { FLOOR };
    jittered(told.clamp(least, CEILING))
}

/// How long to wait before the next attempt, after so many that failed.
pub(in crate::client) fn back_off(failed: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failed.saturating_sub(1));
    jittered(FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE))
}

fn jittered(pause: Duration) -> Duration {
    let mut byte = [0];
    // Without chance there is no jitter, which does no harm.
    let _ = getrandom::fill(&mut byte);
    pause + pause / 10 * u32::from(byte[0]) / 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_never_asked_sooner_than_it_says_nor_than_the_floor() {
        for _ in 0..100 {
            let told = Duration::from_millis(700);
            assert!((told..told * 12 / 10).contains(&interval(told, false)));
            assert!(interval(Duration::ZERO, false) >= FLOOR);
            assert!(interval(told, true) >= BESIDES);
            let long = Duration::from_secs(90);
            assert!(interval(long, true) >= long);
            assert!(interval(Duration::MAX, false) < CEILING * 12 / 10);
        }
    }

    #[test]
    fn pauses_grow_up_to_a_limit() {
        assert!(back_off(1) < Duration::from_millis(300));
        assert!(back_off(3) >= FIRST_PAUSE * 4);
        assert!((LONGEST_PAUSE..LONGEST_PAUSE * 12 / 10).contains(&back_off(99)));
    }
}
