//! Whether a file has been written to, as the file system tells.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::store::sqlite::opening::log_of;

/// Lengths and times of a store's file and its log.
///
/// Two that are the same mean that nothing was written in between, unless both
/// were taken at the moment of a write: see [`is_settled`](Self::is_settled).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    parts: [Option<(u64, SystemTime)>; 2],
}

/// The clock of file systems moves in steps, of a hundredth of a second at most.
const STEP: Duration = Duration::from_millis(50);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let part = |path: &Path| {
            let found = fs::metadata(path).ok()?;
            Some((found.len(), found.modified().ok()?))
        };
        Self {
            parts: [part(path), part(&log_of(path))],
        }
    }

    /// Whether the last write is so long ago that another would have another
    /// time.
    pub fn is_settled(&self) -> bool {
        let now = SystemTime::now();
        self.parts.iter().flatten().all(|(_, written)| {
            // A time in the future is one that another clock gave.
            now.duration_since(*written).is_ok_and(|ago| ago > STEP)
        })
    }
}
