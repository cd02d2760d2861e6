//! The tables, and how a file of an older version gets them.
//!
//! Columns by which rows are looked for are never null: an index answers
//! `wake_at <= ?` at once, and does not answer `wake_at IS NULL OR ..`. What
//! will not come by itself stands at [`NEVER`], outside of the partial indexes,
//! so that a hundred thousand waiting tasks cost a look for work nothing.

use rusqlite::Connection;

/// `mcpt` in the file's header: this is a task store.
pub(super) const APPLICATION_ID: i32 = 0x6d63_7074;

/// What the header's version says once all steps are done.
pub(super) const VERSION: usize = STEPS.len();

pub(super) use crate::store::columns::NEVER;

/// Where a task stands in the order of waking whose function is running.
pub(super) const RUNNING: i64 = -1;

/// Where a task stands for which something has arrived.
pub(super) const ARRIVED: i64 = 0;

/// Each step takes a file one version further. Released steps never change.
const STEPS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// Takes a file from `version` to the last one, within the caller's
/// transaction.
pub(super) fn migrate(connection: &Connection, version: usize) -> rusqlite::Result<()> {
    for step in &STEPS[version..] {
        connection.execute_batch(step)?;
    }
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
    ))
}
