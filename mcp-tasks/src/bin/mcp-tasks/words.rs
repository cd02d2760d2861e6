//! Times and states as people say them.

use std::time::Duration;

use mcp_tasks::protocol::TaskStatus;
use mcp_tasks::task::Timestamp;

use crate::screen::Look;

/// A length of time, in one or two units.
pub(crate) fn duration(duration: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = duration.as_secs();
    let two = |big: u64, name: &str, small: u64, of: &str| match small {
        0 => format!("{big} {name}"),
        small => format!("{big} {name} {small} {of}"),
    };
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..10 => format!("{seconds}.{} s", duration.subsec_millis() / 100),
        10..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => two(seconds / MINUTE, "min", seconds % MINUTE, "s"),
        HOUR..DAY => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "min"),
        _ => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
    }
}

/// How old something is, in one unit.
pub(crate) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Elapsed time as a clock shows it.
pub(crate) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// Day and time to the second.
pub(crate) fn moment(at: Timestamp) -> String {
    let text = at.to_iso_8601();
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.get(..8).unwrap_or(time)),
        None => text,
    }
}

/// The time of the day, to the millisecond.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    let text = at.to_iso_8601();
    let time = text.split_once('T').map_or(text.as_str(), |(_, time)| time);
    time.trim_end_matches('Z').to_owned()
}

/// The day.
pub(crate) fn day(at: Timestamp) -> String {
    let text = at.to_iso_8601();
    text.split('T').next().unwrap_or_default().to_owned()
}

/// A task's state.
pub(crate) fn status(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Working => "working",
        TaskStatus::InputRequired => "input required",
        TaskStatus::Completed => "completed",
        TaskStatus::Failed => "failed",
        TaskStatus::Cancelled => "cancelled",
    }
}

/// How a task's state looks.
pub(crate) fn look(status: TaskStatus) -> Look {
    match status {
        TaskStatus::Working => Look::Plain,
        TaskStatus::InputRequired => Look::Notable,
        TaskStatus::Completed => Look::Good,
        TaskStatus::Failed | TaskStatus::Cancelled => Look::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_one_or_two_units() {
        for (millis, words) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_250, "1.2 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (149_000, "2 min 29 s"),
            (3_600_000, "1 h"),
            (90_000_000, "1 d 1 h"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), words);
        }
        assert_eq!(age(Duration::from_secs(7_300)), "2 h");
        assert_eq!(clock(Duration::from_secs(3_671)), "1:01:11");
        assert_eq!(clock(Duration::from_millis(9_999)), "0:09");
    }

    #[test]
    fn times_are_told_in_utc() {
        let at = Timestamp::from_millis(1_764_443_045_678);
        assert_eq!(moment(at), "2025-11-29 19:04:05 UTC");
        assert_eq!(time_of_day(at), "19:04:05.678");
        assert_eq!(day(at), "2025-11-29");
    }
}
