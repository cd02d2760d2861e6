//! Journals and snapshots as they are written.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::row::{Row, TaskNumber};
use super::trouble::Fault;
use crate::store::StoreError;
use crate::store::columns::{self, damaged, end_of, stored, time};
pub(super) use crate::store::columns::{from_json, to_json};
use crate::task::{Entry, Event, FORMAT, Seq, Snapshot, TaskId, TaskState};

/// Writes new entries, and drops those whose place they take.
pub(super) fn append(
    connection: &Connection,
    row: &mut Row,
    entries: &[Entry],
) -> rusqlite::Result<()> {
    let is_end = |entry: &Entry| matches!(entry.event, Event::Finished(_));
    if entries.last().is_some_and(is_end) {
        // Nobody will run it again, and what it was asked and told should not
        // stay longer than it must. How it ended is in its snapshot.
        connection
            .prepare_cached("DELETE FROM journal WHERE task = ?1")?
            .execute([row.task])?;
        row.status = 0;
        return Ok(());
    }
    let is_status = |entry: &Entry| matches!(entry.event, Event::Status { .. });
    let status = entries.iter().rev().find(|entry| is_status(entry));
    if let Some(status) = status {
        if row.status > 0 {
            connection
                .prepare_cached("DELETE FROM journal WHERE task = ?1 AND seq = ?2")?
                .execute([row.task, row.status.cast_signed()])?;
        }
        row.status = status.seq;
    }
    for entry in entries {
        if !is_status(entry) || entry.seq == row.status {
            insert(connection, row.task, entry)?;
        }
    }
    Ok(())
}

fn insert(connection: &Connection, task: TaskNumber, entry: &Entry) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR FAIL INTO journal VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            task,
            entry.seq.cast_signed(),
            stored(entry.at),
            FORMAT,
            to_json(&entry.event)
        ])
        .map(drop)
}

/// Reads the entries after `last`; of a task that has ended, its end.
pub(super) fn read_after(
    connection: &Connection,
    id: &TaskId,
    task: TaskNumber,
    end: Option<Seq>,
    last: Seq,
) -> Result<Vec<Entry>, Fault> {
    let Some(seq) = end else {
        return read(connection, id, task, last);
    };
    if seq <= last {
        return Ok(Vec::new());
    }
    let snapshot = snapshot(connection, id, task)?;
    Ok(vec![end_of(id, seq, &snapshot)?])
}

/// Reads the entries of a live task after `last`.
fn read(
    connection: &Connection,
    id: &TaskId,
    task: TaskNumber,
    last: Seq,
) -> Result<Vec<Entry>, Fault> {
    let mut read = connection.prepare_cached(
        "SELECT seq, at, format, event FROM journal WHERE task = ?1 AND seq > ?2 ORDER BY seq",
    )?;
    let mut rows = read.query([task, i64::try_from(last).unwrap_or(i64::MAX)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(entry(id, row)?);
    }
    Ok(entries)
}

fn entry(id: &TaskId, row: &SqlRow<'_>) -> Result<Entry, Fault> {
    let seq = row.get::<_, i64>(0)?.cast_unsigned();
    let format: u32 = row.get(2)?;
    let at = time(row.get(1)?);
    let event = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(columns::entry(id, seq, at, format, event)?)
}

/// Works a state out from its journal.
pub(super) fn replay(connection: &Connection, id: &TaskId, row: &Row) -> Result<TaskState, Fault> {
    let entries = read(connection, id, row.task, 0)?;
    let state = TaskState::replay(&entries).map_err(|illegal| StoreError::damaged(id, &illegal))?;
    if state.seq() != row.seq {
        let reason = format!("it ends with entry {} and not {}", state.seq(), row.seq);
        return Err(damaged(id, reason).into());
    }
    Ok(state)
}

/// Reads a task's snapshot.
pub(super) fn snapshot(
    connection: &Connection,
    id: &TaskId,
    task: TaskNumber,
) -> Result<Arc<Snapshot>, Fault> {
    let text: Option<String> = connection
        .prepare_cached("SELECT snapshot FROM tasks WHERE task = ?1")?
        .query_row([task], |row| row.get(0))
        .optional()?;
    Ok(from_json(id, text.as_deref().unwrap_or_default())?)
}
