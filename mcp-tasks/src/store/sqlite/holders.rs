//! Who runs tasks, and who has stopped to.
//!
//! A holder has a row with the end of its lease, and keeps a lock on a small
//! file of its own beside the database. The operating system gives up the lock
//! when the process ends, however it ends: so a dead holder is seen at once,
//! and one that is merely stopped when its lease is over.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::claims::Shelf;
use super::ledger::Ledger;
use super::opening::beside;
use super::row::stored;
use super::trouble::Fault;
use crate::store::{Server, StoreError};
use crate::task::{Retention, Timestamp};

/// The number of a holder; every enlisting gets one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct HolderId(pub(super) i64);

impl HolderId {
    /// The holder of a parked task.
    pub(super) const NOBODY: Self = Self(0);
}

/// The holder that a store's handle is.
pub(super) struct Me {
    pub(super) id: HolderId,
    pub(super) server: Arc<str>,
    pub(super) scope: Arc<str>,
    pub(super) build: Arc<str>,
    pub(super) retention: Retention,
    lease_ms: u64,
    /// None where files cannot be locked: then the lease alone counts.
    _lock: Option<Remains>,
}

/// A holder's file, which is removed when this is dropped. Its lock goes with
/// it, if it is had.
pub(super) struct Remains {
    path: Option<PathBuf>,
    _locked: Option<File>,
}

impl Drop for Remains {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Somebody else may have swept it away.
            let _ = fs::remove_file(path);
        }
    }
}

impl Remains {
    /// Leaves the file where it is.
    pub(super) fn spare(mut self) {
        self.path = None;
    }

    /// Creates and locks the file of a new holder.
    fn create(path: PathBuf) -> io::Result<Option<Self>> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let locked = file.try_lock();
        let remains = Self {
            path: Some(path),
            _locked: Some(file),
        };
        // Without a lock the file must not be there: whoever can take the lock
        // would take the holder for dead.
        Ok(locked.is_ok().then_some(remains))
    }

    /// The file of a holder that has died; none if it lives, or if there is no
    /// telling.
    fn of_the_dead(path: PathBuf) -> Option<Self> {
        let file = File::open(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self {
            path: Some(path),
            _locked: Some(file),
        })
    }

    fn of_the_late(path: PathBuf) -> Self {
        Self {
            path: Some(path),
            _locked: None,
        }
    }
}

const PART: &str = "-holder-";

fn file_of(database: &Path, holder: HolderId) -> PathBuf {
    beside(database, &format!("{PART}{}", holder.0))
}

impl Ledger {
    /// Begins to hold tasks, under a new number.
    pub(super) fn enlist(&mut self, server: &Server, now: Timestamp) -> Result<(), Fault> {
        if let Some(me) = self.me.take() {
            self.remove_holder(me.id)?;
        }
        self.reap(now)?;
        self.sweep()?;
        let until = stored(now.plus_millis(server.lease_ms));
        let sql = "INSERT INTO holders (server, scope, build, process, lease_until)
             VALUES (?1, ?2, ?3, ?4, ?5)";
        self.write().prepare_cached(sql)?.execute(params![
            &*server.name,
            &*server.scope,
            &*server.build,
            process::id(),
            until
        ])?;
        let id = HolderId(self.connection.last_insert_rowid());
        let lock = Remains::create(file_of(&self.path, id)).map_err(|error| {
            StoreError::Unavailable(format!(
                "no file can be put beside `{}`: {error}",
                self.path.display()
            ))
        })?;
        // Codes are a server's.
        self.codes.clear();
        self.me = Some(Arc::new(Me {
            id,
            server: server.name.clone(),
            scope: server.scope.clone(),
            build: server.build.clone(),
            retention: server.retention,
            lease_ms: server.lease_ms,
            _lock: lock,
        }));
        Ok(())
    }

    /// Renews the lease; false if it was lost.
    pub(super) fn renew(&mut self, now: Timestamp) -> Result<bool, Fault> {
        // First, so that an own lease that is over is found to be.
        self.reap(now)?;
        let Some(me) = self.me.clone() else {
            return Ok(false);
        };
        let until = stored(now.plus_millis(me.lease_ms));
        let renewed = self
            .write()
            .prepare_cached("UPDATE holders SET lease_until = ?2 WHERE holder = ?1")?
            .execute([me.id.0, until])?;
        self.lease_until = None;
        Ok(renewed == 1)
    }

    /// Gives up the lease in good order: what ran here is free, and not
    /// suspected of anything.
    pub(super) fn leave(&mut self) -> Result<(), Fault> {
        let Some(me) = self.me.take() else {
            return Ok(());
        };
        self.forget();
        for shelf in [Shelf::ToWake, Shelf::Distrusted] {
            let release = format!(
                "UPDATE tasks SET holder = 0
                 WHERE code IN (SELECT code FROM codes) AND holder = ?1 AND {}",
                shelf.condition()
            );
            self.write().prepare_cached(&release)?.execute([me.id.0])?;
        }
        self.remove_holder(me.id)
    }

    fn remove_holder(&mut self, holder: HolderId) -> Result<(), Fault> {
        self.write()
            .prepare_cached("DELETE FROM holders WHERE holder = ?1")?
            .execute([holder.0])?;
        self.write()
            .prepare_cached("DELETE FROM seats WHERE holder = ?1")?
            .execute([holder.0])?;
        Ok(())
    }

    /// Removes the holders that have died.
    fn reap(&mut self, now: Timestamp) -> Result<(), Fault> {
        let me = self.me.as_ref().map(|me| me.id);
        for (holder, lease_until) in holders(&self.connection)? {
            let path = file_of(&self.path, holder);
            let remains = if lease_until < stored(now) {
                Some(Remains::of_the_late(path))
            } else if Some(holder) == me {
                None
            } else {
                Remains::of_the_dead(path)
            };
            if let Some(remains) = remains {
                tracing::info!(holder = holder.0, "a holder of tasks has died");
                self.remove_holder(holder)?;
                self.remains.push(remains);
            }
        }
        Ok(())
    }

    /// Removes files that crashed holders have left and that nobody reaped.
    ///
    /// No other holder begins while this one writes, so that a file without a
    /// row is nobody's.
    fn sweep(&mut self) -> Result<(), Fault> {
        let known = holders(&self.connection)?;
        let name = self.path.file_name().and_then(OsStr::to_str);
        let (Some(directory), Some(name)) = (self.path.parent(), name) else {
            return Ok(());
        };
        for file in fs::read_dir(directory).into_iter().flatten().flatten() {
            let file_name = file.file_name();
            let number: Option<i64> = file_name
                .to_str()
                .and_then(|file| file.strip_prefix(name)?.strip_prefix(PART)?.parse().ok());
            let is_known = |number| known.iter().any(|(holder, _)| holder.0 == number);
            if number.is_some_and(|number| !is_known(number)) {
                // At once, whatever becomes of the transaction: a holder that
                // died before it had its row leaves a file of the number that
                // the next one gets.
                drop(Remains::of_the_dead(file.path()));
            }
        }
        Ok(())
    }

    /// Whether this process is that holder.
    pub(super) fn is_me(&self, holder: HolderId) -> bool {
        self.me.as_ref().is_some_and(|me| me.id == holder)
    }

    /// Whether a holder's lease holds.
    pub(super) fn is_alive(&mut self, holder: HolderId, now: Timestamp) -> Result<bool, Fault> {
        if holder == HolderId::NOBODY {
            return Ok(false);
        }
        let me = self.is_me(holder);
        if me && let Some(until) = self.lease_until {
            return Ok(until >= stored(now));
        }
        let until: Option<i64> = self
            .connection
            .prepare_cached("SELECT lease_until FROM holders WHERE holder = ?1")?
            .query_row([holder.0], |row| row.get(0))
            .optional()?;
        if me {
            self.lease_until = until;
        }
        Ok(until.is_some_and(|until| until >= stored(now)))
    }
}

/// All holders, with the ends of their leases.
pub(super) fn holders(connection: &Connection) -> rusqlite::Result<Vec<(HolderId, i64)>> {
    connection
        .prepare_cached("SELECT holder, lease_until FROM holders ORDER BY holder")?
        .query_map((), |row| Ok((HolderId(row.get(0)?), row.get(1)?)))?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{SqliteStore, TaskStore as _};

    #[tokio::test]
    async fn a_holder_that_died_while_it_enlisted_is_in_nobodys_way() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("tasks.db");
        // Its file is there, and its row was never committed.
        let left = file_of(&file, HolderId(1));
        fs::write(&left, "").unwrap();

        let store = SqliteStore::open(&file).unwrap();
        let server = Server {
            name: "test".into(),
            scope: "".into(),
            build: "1".into(),
            lease_ms: 10_000,
            retention: Retention::default(),
        };
        let now = Timestamp::from_millis(1_000_000);
        store.enlist(&server, now).await.unwrap();
        assert!(store.renew(now).await.unwrap());
        assert!(left.exists(), "it is the living holder's by now");
        drop(store);
        assert!(!left.exists());
    }
}
