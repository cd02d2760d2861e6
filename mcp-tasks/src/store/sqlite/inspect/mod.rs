//! Looking at a store's file without having a part in it.
//!
//! For tools of whoever runs a server: what tasks there are, what they wait for,
//! what has happened to them. A [`StoreFile`] is looked at beside servers that
//! use it, or when none does, and nothing that is done here changes a byte of it
//! or of what lies beside it, or puts anything there.
//!
//! ```no_run
//! # fn main() -> Result<(), mcp_tasks::Error> {
//! use std::ops::ControlFlow;
//!
//! use mcp_tasks::store::inspect::StoreFile;
//!
//! let file = StoreFile::new("deployer.db")?;
//! let asked = file.look(|view| {
//!     let mut asked = Vec::new();
//!     view.tasks(|task| {
//!         for (key, _) in &task.snapshot.input_requests {
//!             asked.push(format!("{}: {key}", task.snapshot.id));
//!         }
//!         ControlFlow::Continue(())
//!     })?;
//!     Ok(asked)
//! })?;
//! # Ok(()) }
//! ```

mod mode;
mod stamp;
mod task;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use self::mode::Mode;
pub use self::stamp::Stamp;
pub use self::task::{Holder, StoredTask};
use super::opening::{self, Header};
use super::trouble::{Fault, in_words};
use super::{journal, row};
use crate::Error;
use crate::store::{StoreError, StoreStats};
use crate::task::{Entry, Seq, TaskId};

/// How often a look is begun anew because the file changed meanwhile.
const ATTEMPTS: usize = 20;

/// The file of a `SqliteStore`, to be looked at.
///
/// It is opened anew for each look, and only to read:
///
/// - if it has a log (`-wal`) and the index of it (`-shm`), as while a server uses
///   it and after one was killed, SQLite reads it as any reader does, with the
///   index mapped read-only; servers go on writing meanwhile;
/// - if it has a log without an index, as a copy may, nobody uses it: SQLite reads
///   both without locks, and indexes the log in memory;
/// - if it has no log, as after servers have ended in good order, SQLite takes it
///   for a file that nobody changes.
///
/// In the latter two a server that starts in the middle of a look is noticed, and
/// the look is begun again.
#[derive(Clone, Debug)]
pub struct StoreFile {
    path: PathBuf,
}

/// A store at one moment.
pub struct View {
    connection: Connection,
}

impl StoreFile {
    /// A file, which must be a store.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if there is no such file, or if it belongs to another
    /// program or to a newer version of this crate.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let refused = |problem: String| Error::Store {
            path: path.to_owned(),
            problem,
        };
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(refused("it is a directory; name a file".to_owned()));
            }
            Ok(found) if !found.is_file() => {
                return Err(refused("it is not an ordinary file".to_owned()));
            }
            Ok(_) => {}
            Err(error) => return Err(refused(error.to_string())),
        }
        let path = fs::canonicalize(path).map_err(|error| refused(error.to_string()))?;
        let file = Self { path };
        file.look(|_| Ok(()))?;
        Ok(file)
    }

    /// Where it is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// By what it is seen whether anything has been written since.
    pub fn stamp(&self) -> Stamp {
        Stamp::of(&self.path)
    }

    /// Looks at the store as it is at this moment.
    ///
    /// What is read may be read more than once before it is given: `read` should
    /// do nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] as [`new`](Self::new), and if the file cannot be read.
    pub fn look<T>(&self, read: impl Fn(&View) -> Result<T, StoreError>) -> Result<T, Error> {
        self.try_look(read).map_err(|problem| Error::Store {
            path: self.path.clone(),
            problem,
        })
    }

    fn try_look<T>(&self, read: impl Fn(&View) -> Result<T, StoreError>) -> Result<T, String> {
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            let mode = Mode::of(&self.path);
            let before = self.stamp();
            let seen = View::open(&self.path, mode)
                .and_then(|view| read(&view).map_err(|error| error.to_string()));
            // Where no lock was had, something may have come in between; and what
            // was locked may have been put away before it was.
            let came_between = self.stamp() != before || Mode::of(&self.path) != mode;
            match seen {
                Ok(seen) if mode == Mode::Shared || !came_between => return Ok(seen),
                Err(problem) if !came_between => return Err(problem),
                Ok(_) => "it changes all the time".clone_into(&mut last),
                Err(problem) => last = problem,
            }
        }
        Err(last)
    }
}

impl View {
    fn open(path: &Path, mode: Mode) -> Result<Self, String> {
        let told = |error: rusqlite::Error| words(&error);
        if opening::length(path) < 2 {
            return Err("it is empty: no server has kept tasks in it".to_owned());
        }
        let connection = mode.connect(path).map_err(told)?;
        let header = Header::read(&connection).map_err(told)?;
        if header.check()? == 0 {
            return Err("it is empty: no server has kept tasks in it".to_owned());
        }
        opening::check_tables(&connection)?;
        // One moment for all that is read.
        connection.execute_batch("BEGIN").map_err(told)?;
        Ok(Self { connection })
    }

    /// Visits the tasks, those that have not ended first, the newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read or a task in it is damaged.
    pub fn tasks(
        &self,
        mut visit: impl FnMut(StoredTask) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("{} ORDER BY ended, task DESC", task::SELECT);
        let mut find = self.connection.prepare(&sql).map_err(fault)?;
        let mut rows = find.query(()).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            if visit(StoredTask::read(row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The task of this id, if there is one.
    ///
    /// # Errors
    ///
    /// As [`tasks`](Self::tasks).
    pub fn task(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        let sql = format!("{} WHERE id = ?1", task::SELECT);
        let mut find = self.connection.prepare(&sql).map_err(fault)?;
        let mut rows = find.query([id.as_str()]).map_err(fault)?;
        rows.next()
            .map_err(fault)?
            .map(StoredTask::read)
            .transpose()
    }

    /// The ids that begin like this, in the order of their creation; at most so
    /// many.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read.
    pub fn ids(&self, beginning: &str, limit: usize) -> Result<Vec<TaskId>, StoreError> {
        let sql = "SELECT id FROM tasks WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut find = self.connection.prepare(sql).map_err(fault)?;
        let ids = find.query_map((beginning, limit), |row| row.get::<_, String>(0));
        let ids = ids.map_err(fault)?;
        ids.map(|id| id.map(|id| TaskId::from_text(&id)).map_err(fault))
            .collect()
    }

    /// The entries of a task's journal that come after `last`; none if there is
    /// no such task. Of a task that has ended only its end is left.
    ///
    /// # Errors
    ///
    /// As [`tasks`](Self::tasks).
    pub fn journal(&self, id: &TaskId, last: Seq) -> Result<Vec<Entry>, StoreError> {
        let found: Option<(row::TaskNumber, bool, i64)> = self
            .connection
            .query_row(
                "SELECT task, ended, seq FROM tasks WHERE id = ?1",
                [id.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()
            .map_err(fault)?;
        let Some((task, ended, seq)) = found else {
            return Ok(Vec::new());
        };
        let end = ended.then_some(seq.cast_unsigned());
        Ok(journal::read_after(&self.connection, id, task, end, last)?)
    }

    /// Counts what there is; commits are not known.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read.
    pub fn stats(&self) -> Result<StoreStats, StoreError> {
        Ok(super::reader::stats(&self.connection, 0)?)
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}

fn fault(error: rusqlite::Error) -> StoreError {
    Fault::from(error).into()
}

/// What an error means for whoever only reads.
fn words(error: &rusqlite::Error) -> String {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            format!("this user may not read it, or what lies beside it ({error})")
        }
        _ => in_words(error),
    }
}
