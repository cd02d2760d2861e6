//! The replicas share a SQLite file.
//!
//! SQLite does not tell which process writes: who holds a task stands in its row.

use std::time::Duration;

use mcp_tasks::SqliteStore;
use mcp_tasks_tests::{Launch, StoreFile};
use rusqlite::{Connection, OptionalExtension as _};

use crate::trail::{Line, RawLine};

use super::Census;

/// Writes down what is written, in the same transaction.
const TRAIL: &str = "
CREATE TABLE chaos_trail (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    kind TEXT NOT NULL,
    task INTEGER,
    id TEXT,
    seq INTEGER,
    fencing INTEGER,
    holder INTEGER,
    ended INTEGER,
    body TEXT,
    fencing_before INTEGER,
    holder_before INTEGER,
    lease_left INTEGER,
    process INTEGER,
    label TEXT
);
CREATE INDEX chaos_labels ON chaos_trail (label) WHERE label IS NOT NULL;

CREATE TRIGGER chaos_journal AFTER INSERT ON journal BEGIN
    INSERT INTO chaos_trail (kind, task, id, seq, fencing, holder, body, label)
    SELECT 'entry', task, id, new.seq, fencing, holder, new.event,
        new.event ->> '$.created.arguments.label'
    FROM tasks WHERE task = new.task;
END;

CREATE TRIGGER chaos_begin AFTER INSERT ON tasks BEGIN
    INSERT INTO chaos_trail (kind, task, id, seq, fencing, holder, ended)
    VALUES ('row', new.task, new.id, new.seq, new.fencing, new.holder, new.ended);
END;

CREATE TRIGGER chaos_task AFTER UPDATE ON tasks BEGIN
    INSERT INTO chaos_trail (kind, task, id, seq, fencing, holder, ended, body,
        fencing_before, holder_before, lease_left)
    VALUES ('row', new.task, new.id, new.seq, new.fencing, new.holder, new.ended,
        CASE WHEN new.ended THEN new.snapshot -> '$.outcome' END,
        old.fencing, old.holder,
        (SELECT lease_until - CAST(unixepoch('subsec') * 1000 AS INTEGER)
         FROM holders WHERE holder = old.holder));
END;

CREATE TRIGGER chaos_deleted AFTER DELETE ON tasks BEGIN
    INSERT INTO chaos_trail (kind, task, id) VALUES ('deleted', old.task, old.id);
END;

CREATE TRIGGER chaos_holder AFTER INSERT ON holders BEGIN
    INSERT INTO chaos_trail (kind, holder, process) VALUES ('holder', new.holder, new.process);
END;
";

/// A file that replicas share.
pub(crate) struct Sqlite {
    file: StoreFile,
}

impl Sqlite {
    pub(crate) fn new() -> Self {
        let file = StoreFile::new();
        // It makes the tables.
        drop(SqliteStore::open(file.path()).expect("a new file"));
        let made = Connection::open(file.path()).and_then(|it| it.execute_batch(TRAIL));
        made.expect("a store has these tables");
        Self { file }
    }

    pub(super) fn store(&self, launch: Launch) -> Launch {
        launch.on(&self.file)
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        self.file.folder()
    }

    fn open(&self) -> Result<Connection, rusqlite::Error> {
        let connection = Connection::open(self.file.path())?;
        connection.busy_timeout(Duration::from_secs(10))?;
        Ok(connection)
    }

    /// The task that a call has made, if it has.
    pub(super) fn called(&self, label: &str) -> Result<Option<String>, rusqlite::Error> {
        self.open()?
            .query_row(
                "SELECT id FROM chaos_trail WHERE label = ?1",
                [label],
                |row| row.get(0),
            )
            .optional()
    }

    pub(super) fn trail(&self) -> Result<Vec<Line>, rusqlite::Error> {
        let connection = self.open()?;
        let mut lines = connection.prepare(
            "SELECT number, at, kind, task, id, seq, fencing, holder, ended, body,
                 fencing_before, holder_before, lease_left, process
             FROM chaos_trail ORDER BY number",
        )?;
        let lines = lines.query_map((), |row| {
            Ok(Line::from(RawLine {
                number: row.get(0)?,
                at_ms: row.get(1)?,
                kind: row.get(2)?,
                id: row.get(4)?,
                seq: row.get(5)?,
                fencing: row.get(6)?,
                holder: row.get(7)?,
                ended: row.get(8)?,
                body: row.get(9)?,
                fencing_before: row.get(10)?,
                holder_before: row.get(11)?,
                lease_left: row.get(12)?,
                process: row.get(13)?,
                writer: None,
            }))
        })?;
        lines.collect()
    }

    pub(super) fn row(&self, id: &str) -> Result<String, rusqlite::Error> {
        let connection = self.open()?;
        let mut found = connection.prepare("SELECT * FROM tasks WHERE id = ?1")?;
        let names: Vec<String> = found.column_names().map(str::to_owned).collect();
        found.query_row([id], |row| {
            let columns = names.iter().enumerate().map(|(index, name)| {
                let value: rusqlite::types::Value = row.get(index)?;
                Ok(format!("{name}: {value:?}"))
            });
            columns
                .collect::<Result<Vec<_>, _>>()
                .map(|it| it.join(", "))
        })
    }

    pub(super) fn census(&self) -> Result<Census, rusqlite::Error> {
        let connection = self.open()?;
        let number = |sql| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
        let mut holders = connection.prepare("SELECT process FROM holders ORDER BY process")?;
        let holders = holders.query_map((), |row| row.get::<_, u32>(0))?;
        Ok(Census {
            unfinished: number("SELECT count(*) FROM tasks WHERE ended = 0")?,
            live: number("SELECT live FROM totals")?,
            of_callers: number("SELECT coalesce(sum(live), 0) FROM callers")?,
            stored: number("SELECT stored FROM totals")?,
            tasks: number("SELECT count(*) FROM tasks")?,
            entries: number("SELECT count(*) FROM journal")?,
            holders: holders.collect::<Result<_, _>>()?,
        })
    }
}
