//! How stores of tables write what tasks are made of.

use std::sync::Arc;

use super::StoreError;
use crate::protocol::TaskStatus;
use crate::task::{Access, Entry, Event, FORMAT, Seq, Snapshot, TaskId, Timestamp};

/// The time of what waits for something other than the clock.
pub(super) const NEVER: i64 = i64::MAX;

/// A time as it is kept: the end of time is [`NEVER`].
pub(super) fn stored(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis()).unwrap_or(NEVER)
}

/// A kept time.
pub(super) fn time(stored: i64) -> Timestamp {
    Timestamp::from_millis(stored.max(0).cast_unsigned())
}

/// What a task of this status is listed as.
pub(super) fn listed_as(status: TaskStatus) -> i64 {
    match status {
        TaskStatus::Working => 0,
        TaskStatus::InputRequired => 1,
        TaskStatus::Completed => 2,
        TaskStatus::Failed => 3,
        TaskStatus::Cancelled => 4,
    }
}

/// Whose a task must be to exist for `access`; `None` for anybody's.
///
/// Compared by the database: a row that is another's is no more read than one that
/// is not there.
pub(super) fn caller_of(access: Access<'_>) -> Option<&str> {
    match access {
        Access::Caller(caller) => Some(caller.as_str()),
        Access::Server => None,
    }
}

/// Reads an entry of a journal.
pub(super) fn entry(
    id: &TaskId,
    seq: Seq,
    at: Timestamp,
    format: u32,
    event: &str,
) -> Result<Entry, StoreError> {
    if format > FORMAT {
        let reason = format!("entry {seq} was written by a newer version (format {format})");
        return Err(damaged(id, reason));
    }
    let event = serde_json::from_str(event)
        .map_err(|error| damaged(id, format!("entry {seq} cannot be read: {error}")))?;
    Ok(Entry { seq, at, event })
}

/// What is left of the journal of a task that has ended: its end.
pub(super) fn end_of(id: &TaskId, seq: Seq, snapshot: &Snapshot) -> Result<Entry, StoreError> {
    let outcome = snapshot.outcome.clone();
    let outcome = outcome.ok_or_else(|| damaged(id, "it does not say how it ended".to_owned()))?;
    Ok(Entry {
        seq,
        at: snapshot.updated_at,
        event: Event::Finished(outcome),
    })
}

/// Reads a snapshot's JSON.
pub(super) fn from_json(id: &TaskId, text: &str) -> Result<Arc<Snapshot>, StoreError> {
    serde_json::from_str(text)
        .map(Arc::new)
        .map_err(|error| damaged(id, format!("its snapshot cannot be read: {error}")))
}

/// Bytes of most events and snapshots.
const USUAL: usize = 1024;

pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    let mut json = Vec::with_capacity(USUAL);
    serde_json::to_writer(&mut json, value).expect("events and snapshots have text for keys");
    String::from_utf8(json).expect("JSON is UTF-8")
}

/// For a task that cannot be read.
pub(super) fn damaged(id: &TaskId, reason: String) -> StoreError {
    let id = id.clone();
    StoreError::Damaged { id, reason }
}
