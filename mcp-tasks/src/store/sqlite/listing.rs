//! Lists tasks of a file.

use std::sync::Arc;

use rusqlite::params;

use super::changes::OwnedAccess;
use super::journal;
use super::reader::Archive;
use super::row::{caller_of, listed_as};
use super::trouble::Fault;
use crate::store::Listing;
use crate::task::{Snapshot, TaskId};

/// A [`Listing`] on its way to the reader.
pub(super) struct OwnedListing {
    server: Arc<str>,
    scope: Arc<str>,
    access: OwnedAccess,
    state: Option<i64>,
    limit: i64,
}

impl From<&Listing<'_>> for OwnedListing {
    fn from(listing: &Listing<'_>) -> Self {
        Self {
            server: listing.server.name.clone(),
            scope: listing.server.scope.clone(),
            access: listing.access.into(),
            state: listing.status.map(listed_as),
            limit: i64::try_from(listing.limit).unwrap_or(i64::MAX),
        }
    }
}

/// Conditions are written out only where they hold something back, so that
/// SQLite sees which index answers them.
fn select(by_caller: bool, by_state: bool) -> &'static str {
    macro_rules! select {
        ($($condition:literal)*) => {
            concat!(
                "SELECT id, seq, snapshot FROM tasks
                 WHERE code IN (SELECT code FROM codes WHERE server = ?1 AND scope = ?2)",
                $($condition,)*
                " ORDER BY task DESC LIMIT ?5",
            )
        };
    }
    match (by_caller, by_state) {
        (true, true) => select!(" AND caller = ?3 AND state = ?4"),
        (true, false) => select!(" AND caller = ?3 AND ?4 IS NULL"),
        (false, true) => select!(" AND ?3 IS NULL AND state = ?4"),
        (false, false) => select!(" AND ?3 IS NULL AND ?4 IS NULL"),
    }
}

impl Archive {
    pub(super) fn list(&mut self, listing: &OwnedListing) -> Result<Vec<Arc<Snapshot>>, Fault> {
        let caller = caller_of(listing.access.get());
        let sql = select(caller.is_some(), listing.state.is_some());
        let mut find = self.connection.prepare_cached(sql)?;
        let mut rows = find.query(params![
            &*listing.server,
            &*listing.scope,
            caller,
            listing.state,
            listing.limit,
        ])?;
        let mut tasks = Vec::new();
        while let Some(row) = rows.next()? {
            let id = TaskId::from_text(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?);
            let seq = row.get::<_, i64>(1)?.cast_unsigned();
            if let Some(known) = self.snapshots.get(&id, seq) {
                tasks.push(known);
                continue;
            }
            let text = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            tasks.push(journal::from_json(&id, text)?);
        }
        Ok(tasks)
    }
}
