//! What the system says of this process.

use std::fs;
use std::time::Duration;

/// What it holds in memory, in bytes; not a number where the system does not
/// say it.
pub(crate) fn resident_bytes() -> f64 {
    let pages = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|statm| statm.split(' ').nth(1)?.parse::<f64>().ok());
    pages.map_or(f64::NAN, |pages| pages * 4096.0)
}

/// How long its threads have run on a processor, those that have ended not
/// counted.
///
/// `stat` counts in hundredths of a second, which is too coarse for a process
/// that hardly runs; `schedstat` in nanoseconds.
pub(crate) fn processor_time() -> Option<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        let schedstat = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += schedstat.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanoseconds))
}
