//! A SQLite file for servers to share, and what its journals say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

/// A place for a store, deleted with the last handle on it.
#[derive(Clone, Debug)]
pub struct StoreFile {
    folder: Arc<TempDir>,
}

impl StoreFile {
    /// A place where there is nothing yet.
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a directory for temporary files");
        Self {
            folder: Arc::new(folder),
        }
    }

    /// The store's file.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("tasks.db")
    }

    /// The directory that it is alone in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `--store` is given.
    pub fn flag(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    /// The ids of all tasks, in no order. No server may have the file open.
    pub fn ids(&self) -> Vec<String> {
        self.look(|connection| {
            let mut found = connection.prepare("SELECT id FROM tasks")?;
            let ids = found.query_map((), |row| row.get(0))?;
            ids.collect()
        })
    }

    /// The events of a task's journal, in order; of a task that has ended none
    /// are left. No server may have the file open.
    pub fn journal(&self, id: &str) -> Vec<Value> {
        let texts: Vec<String> = self.look(|connection| {
            let mut found =
                connection.prepare("SELECT event FROM journal JOIN tasks USING (task) WHERE id = ?1 ORDER BY journal.seq")?;
            let events = found.query_map((id,), |row| row.get(0))?;
            events.collect()
        });
        let events = texts.iter().map(|text| serde_json::from_str(text));
        events.collect::<Result<_, _>>().expect("events are JSON")
    }

    /// Looks at a copy, so that nothing happens to the file: opening it would
    /// bring in what its log holds. No server may have the file open.
    pub fn look<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
        let aside = TempDir::new().expect("a directory for temporary files");
        for name in ["tasks.db", "tasks.db-wal"] {
            let copied = std::fs::copy(self.folder.path().join(name), aside.path().join(name));
            // All of it may have been brought in.
            assert!(copied.is_ok() || name.ends_with("-wal"), "{copied:?}");
        }
        let connection = Connection::open_with_flags(
            aside.path().join("tasks.db"),
            OpenFlags::SQLITE_OPEN_READ_WRITE,
        );
        let read = connection.and_then(|connection| read(&connection));
        read.expect("the file is a store")
    }
}
