//! How a file is opened so that looking at it leaves no trace.
//!
//! SQLite's own read-only mode is not enough: a reader of a file in write-ahead
//! mode creates the log and its index if they are not there, and notes in the
//! index what it reads.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::store::sqlite::opening::{beside, length, log_of, uri};

/// How long to wait for a server that is bringing the log in.
const PATIENCE: Duration = Duration::from_secs(5);

/// What lies beside a file, and so how it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A log and its index: servers may be using them.
    Shared,
    /// A log alone: nobody is.
    Alone,
    /// No log: all there is to know is in the file.
    Whole,
}

impl Mode {
    pub(super) fn of(path: &Path) -> Self {
        if length(&log_of(path)) == 0 {
            Self::Whole
        } else if beside(path, "-shm").exists() {
            Self::Shared
        } else {
            Self::Alone
        }
    }

    pub(super) fn connect(self, path: &Path) -> rusqlite::Result<Connection> {
        let how = match self {
            Self::Shared => "mode=ro&readonly_shm=1",
            // Without an index there are no locks either: they are on it.
            Self::Alone if cfg!(windows) => "mode=ro&vfs=win32-none",
            Self::Alone => "mode=ro&vfs=unix-none",
            Self::Whole => "immutable=1",
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri(path, how), flags)?;
        connection.busy_timeout(PATIENCE)?;
        // Whoever closes a file last brings its log in.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if self == Self::Alone {
            // The index is in memory then.
            connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        }
        Ok(connection)
    }
}
