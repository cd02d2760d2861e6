//! A task as its row tells of it.

use std::sync::Arc;

use rusqlite::Row as SqlRow;

use super::super::row::time;
use super::super::schema::{NEVER, RUNNING};
use super::super::{journal, trouble::Fault};
use crate::store::StoreError;
use crate::task::{Snapshot, TaskId, Timestamp};

pub(super) const SELECT: &str = "SELECT id, snapshot, codes.server, codes.scope, running, wake_at,
    due_at, ended, process, build, lease_until
    FROM tasks JOIN codes USING (code) LEFT JOIN holders USING (holder)";

/// A task in a store.
#[derive(Clone, Debug)]
pub struct StoredTask {
    /// What its client sees of it.
    pub snapshot: Arc<Snapshot>,
    /// The name of the server that it belongs to.
    pub server: Arc<str>,
    /// What divides servers of one name; mostly empty.
    pub scope: Arc<str>,
    /// Whether its function was running, not waiting, when that was last said.
    pub running: bool,
    /// When the clock wakes it.
    pub wakes_at: Option<Timestamp>,
    /// When it is deleted, if it has ended.
    pub deleted_at: Option<Timestamp>,
    /// The process that has claimed it, if one has.
    pub holder: Option<Holder>,
}

/// A process that runs tasks.
#[derive(Clone, Debug)]
pub struct Holder {
    /// Its number in the operating system.
    pub process: u32,
    /// Which build of the server it is.
    pub build: Arc<str>,
    /// Until when it is taken to be alive, unless it says so again.
    pub lease_until: Timestamp,
}

impl StoredTask {
    pub(super) fn read(row: &SqlRow<'_>) -> Result<Self, StoreError> {
        let fault = |error: rusqlite::Error| StoreError::from(Fault::from(error));
        let text = |index: usize| -> Result<String, StoreError> { row.get(index).map_err(fault) };
        let number = |index: usize| -> Result<i64, StoreError> { row.get(index).map_err(fault) };
        let at = |stored: i64| (stored != NEVER).then(|| time(stored));
        let id = TaskId::from_text(&text(0)?);
        let snapshot = journal::from_json(&id, &text(1)?)?;
        let wake_at = number(5)?;
        let ended = number(7)? != 0;
        let process: Option<i64> = row.get(8).map_err(fault)?;
        let holder = match process {
            Some(process) => Some(Holder {
                process: u32::try_from(process).unwrap_or_default(),
                build: text(9)?.into(),
                lease_until: time(number(10)?),
            }),
            None => None,
        };
        Ok(Self {
            snapshot,
            server: text(2)?.into(),
            scope: text(3)?.into(),
            running: number(4)? != 0,
            // What has arrived wakes it at once, and is no time.
            wakes_at: at(wake_at).filter(|_| wake_at > 0 && wake_at != RUNNING),
            deleted_at: at(number(6)?).filter(|_| ended),
            holder: holder.filter(|_| !ended),
        })
    }
}
