//! Reading tasks: nothing here waits for anybody who writes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_postgres::Row as SqlRow;

use super::ledger::{Ledger, journal_in};
use super::query::Query;
use super::text::{kept, sought, was};
use crate::store::columns::{caller_of, end_of, from_json, listed_as};
use crate::store::near::Brief;
use crate::store::{Listing, StoreError, StoreStats};
use crate::task::{Access, Entry, Seq, Snapshot, TaskId};

pub(super) struct Queries {
    get: Query,
    read: Query,
    list_of_caller: Query,
    list: Query,
    stats: Query,
}

/// A page of a list, from the tasks that have ended or from those that have not.
macro_rules! listed {
    ($condition:literal) => {
        concat!(
            "(SELECT t.task, t.id, t.seq, t.snapshot FROM @tasks t
              WHERE t.code IN (SELECT code FROM @codes WHERE server = $1::text AND scope = $2::text)
                AND ($3::int2 IS NULL OR t.state = $3::int2) AND ",
            $condition,
            " ORDER BY t.task DESC LIMIT $4::int8)"
        )
    };
}

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            // What is known here as it is need not be sent.
            get: query(
                "SELECT t.seq, CASE WHEN t.seq = $3::int8 THEN NULL ELSE t.snapshot END
                 FROM @tasks t WHERE t.id = $1::text AND t.caller = coalesce($2::text, t.caller)",
            ),
            read: query(
                "SELECT t.ended, t.seq, CASE WHEN t.ended THEN t.snapshot END,
                     j.seqs, j.ats, j.formats, j.events
                 FROM @tasks t LEFT JOIN LATERAL (
                     SELECT array_agg(seq ORDER BY seq) AS seqs, array_agg(at ORDER BY seq) AS ats,
                         array_agg(format ORDER BY seq) AS formats,
                         array_agg(event ORDER BY seq) AS events
                     FROM @journal WHERE task = t.task AND seq > $2::int8
                 ) j ON NOT t.ended
                 WHERE t.id = $1::text",
            ),
            list_of_caller: query(concat!(
                "SELECT id, seq, snapshot FROM (",
                listed!("t.caller = $5::text AND NOT t.ended"),
                " UNION ALL ",
                listed!("t.caller = $5::text AND t.ended"),
                ") listed ORDER BY task DESC LIMIT $4::int8",
            )),
            list: query(concat!(
                "SELECT id, seq, snapshot FROM ",
                listed!("TRUE"),
                " listed ORDER BY task DESC",
            )),
            stats: query(
                "SELECT sum(live)::int8, sum(stored)::int8,
                     pg_total_relation_size('@tasks') + pg_total_relation_size('@journal')
                 FROM @totals",
            ),
        }
    }
}

impl Ledger {
    pub(super) async fn get(
        &self,
        id: &TaskId,
        access: Access<'_>,
    ) -> Result<Option<Arc<Snapshot>>, StoreError> {
        let known = self.snapshots.newest(id);
        let seq = known.as_ref().map_or(-1, |(seq, _)| seq.cast_signed());
        let rows = self
            .connections
            .read(
                &self.queries.reading.get,
                &[&sought(id), &caller_of(access).map(kept), &seq],
            )
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let Some(text) = row.get::<_, Option<&str>>(1) else {
            return Ok(known.map(|(_, snapshot)| snapshot));
        };
        let snapshot = from_json(id, text)?;
        let seq = row.get::<_, i64>(0).cast_unsigned();
        self.snapshots
            .put(Brief::new(seq, &snapshot, text).into_iter());
        Ok(Some(snapshot))
    }

    /// Entries after `last`; of a task that has ended, its end.
    pub(super) async fn read(&self, id: &TaskId, last: Seq) -> Result<Vec<Entry>, StoreError> {
        if let Some(entries) = self.handover.take(id, last) {
            return Ok(entries);
        }
        let after = i64::try_from(last).unwrap_or(i64::MAX);
        let rows = self
            .connections
            .read(&self.queries.reading.read, &[&sought(id), &after])
            .await?;
        let Some(row) = rows.first() else {
            return Ok(Vec::new());
        };
        if !row.get::<_, bool>(0) {
            return journal_in(id, row, 3);
        }
        let seq = row.get::<_, i64>(1).cast_unsigned();
        if seq <= last {
            return Ok(Vec::new());
        }
        let snapshot = from_json(id, row.get::<_, Option<&str>>(2).unwrap_or_default())?;
        Ok(vec![end_of(id, seq, &snapshot)?])
    }

    pub(super) async fn list(
        &self,
        listing: &Listing<'_>,
    ) -> Result<Vec<Arc<Snapshot>>, StoreError> {
        let Listing { server, access, .. } = listing;
        let state = listing.status.map(listed_as);
        let state = state.and_then(|state| i16::try_from(state).ok());
        let limit = i64::try_from(listing.limit).unwrap_or(i64::MAX);
        let (name, scope) = (&*server.name, &*server.scope);
        let queries = &self.queries.reading;
        let rows = match caller_of(*access) {
            Some(caller) => {
                let query = &queries.list_of_caller;
                self.connections
                    .read(query, &[&name, &scope, &state, &limit, &kept(caller)])
                    .await?
            }
            None => {
                self.connections
                    .read(&queries.list, &[&name, &scope, &state, &limit])
                    .await?
            }
        };
        rows.iter().map(|row| self.listed(row)).collect()
    }

    fn listed(&self, row: &SqlRow) -> Result<Arc<Snapshot>, StoreError> {
        let id = TaskId::from_text(&was(row.get(0)));
        match self
            .snapshots
            .get(&id, row.get::<_, i64>(1).cast_unsigned())
        {
            Some(known) => Ok(known),
            None => from_json(&id, row.get(2)),
        }
    }

    pub(super) async fn stats(&self) -> Result<StoreStats, StoreError> {
        let rows = self
            .connections
            .read(&self.queries.reading.stats, &[])
            .await?;
        let count = |column| {
            let count: Option<i64> = rows.first().and_then(|row| row.get(column));
            count.unwrap_or_default().max(0).cast_unsigned()
        };
        Ok(StoreStats {
            live: count(0),
            stored: count(1),
            commits: self.commits.load(Ordering::Relaxed),
            bytes: count(2),
        })
    }
}
