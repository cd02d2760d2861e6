//! What time alone does: expiry, the end of a grace, deletion; in batches.

use std::collections::HashMap;

use tokio_postgres::Row as SqlRow;

use super::ledger::{Ledger, Task, Worked, journal_in, next_slot, replay};
use super::query::Query;
use super::row::{COLUMNS, Row, columns};
use super::schema::{NEVER, now};
use super::text::was;
use super::trouble::Trouble;
use crate::store::columns::{stored, time};
use crate::store::{Elapsed, StoreError};
use crate::task::{Retention, TaskId, Timestamp};

pub(super) struct Queries {
    is_due: Query,
    due: Query,
    journals: Query,
    delete: Query,
    keep_until: Query,
    set_aside: Query,
}

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            is_due: query(concat!(
                "SELECT min(due_at), coalesce(min(due_at) <= ",
                now!(),
                ", FALSE) FROM @tasks WHERE due_at < 9223372036854775807",
            )),
            // What another replica is at is left to it.
            due: query(concat!(
                "SELECT ",
                columns!(),
                ", t.id FROM @tasks t WHERE t.due_at < 9223372036854775807 AND t.due_at <= ",
                now!(),
                " ORDER BY t.due_at LIMIT $1::int8 FOR UPDATE SKIP LOCKED",
            )),
            journals: query(
                "SELECT task, array_agg(seq ORDER BY seq), array_agg(at ORDER BY seq),
                     array_agg(format ORDER BY seq), array_agg(event ORDER BY seq)
                 FROM @journal WHERE task = ANY ($1::int8[]) GROUP BY task",
            ),
            delete: query(
                "WITH gone AS (
                    DELETE FROM @tasks WHERE task = ANY ($1::int8[]) RETURNING task, caller
                 ), callers AS (
                    DELETE FROM @callers c USING (SELECT DISTINCT caller FROM gone) g
                    WHERE c.caller = g.caller AND c.live = 0
                 ), unsaid AS (
                    DELETE FROM @journal j USING gone WHERE j.task = gone.task
                 )
                 UPDATE @totals SET stored = stored - (SELECT count(*) FROM gone)
                 WHERE slot = $2::int4",
            ),
            keep_until: query(
                "UPDATE @tasks t SET revision = t.revision + 1, due_at = k.due_at
                 FROM unnest($1::int8[], $2::int8[]) AS k(task, due_at) WHERE t.task = k.task",
            ),
            set_aside: query(
                "UPDATE @tasks t SET revision = t.revision + 1, holder = 0, held = 0, distrust = 0,
                     wake_at = 9223372036854775807, due_at = 9223372036854775807
                 WHERE t.task = $1::int8",
            ),
        }
    }
}

/// What has become of tasks that were due.
#[derive(Default)]
struct Done {
    changed: Vec<Task>,
    damaged: Vec<TaskId>,
}

impl Ledger {
    /// Does what is due for up to `limit` tasks.
    ///
    /// The rows are locked for the time of a few statements: nobody else does the
    /// same meanwhile, and what is not done is done by others.
    pub(super) async fn elapse(&self, limit: usize) -> Result<Elapsed, StoreError> {
        let mut elapsed = Elapsed::default();
        if !self.note_next(&mut elapsed).await? {
            return Ok(elapsed);
        }
        let done = match self.elapse_due(limit).await {
            Ok(done) => done,
            // Somebody else was at them; they are due still.
            Err(Trouble::Again) => return Ok(elapsed),
            Err(Trouble::Refused(error)) => return Err(error),
        };
        for id in &done.damaged {
            self.forget(id);
        }
        for mut task in done.changed {
            self.has_put(&mut task, None);
            elapsed.changes.push(self.has_appended(&task));
        }
        self.note_next(&mut elapsed).await?;
        Ok(elapsed)
    }

    /// Notes when something is due next; says whether it is by now.
    async fn note_next(&self, elapsed: &mut Elapsed) -> Result<bool, StoreError> {
        let rows = self
            .connections
            .read(&self.queries.elapse.is_due, &[])
            .await?;
        let row = rows.first();
        let next: Option<i64> = row.and_then(|row| row.get(0));
        elapsed.next = next.map(time);
        Ok(row.is_some_and(|row| row.get(1)))
    }

    async fn elapse_due(&self, limit: usize) -> Result<Done, Trouble> {
        let queries = &self.queries.elapse;
        let retention = self.retention();
        let now = self.clock.now();
        let mut transaction = self.connections.begin().await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let due = transaction.run(&queries.due, &[&limit]).await?;
        let due: Vec<(TaskId, Row)> = due.iter().map(read).collect();
        let (mut deleted, mut kept, mut until) = (Vec::new(), Vec::new(), Vec::new());
        for (_, row) in due.iter().filter(|(_, row)| row.ended) {
            match deleted_at(row, retention) {
                at if at <= stored(now) => deleted.push(row.task),
                // It was ended by a holder that keeps tasks for a shorter time.
                at => {
                    kept.push(row.task);
                    until.push(at);
                }
            }
        }
        if !deleted.is_empty() {
            let slot = next_slot();
            transaction.run(&queries.delete, &[&deleted, &slot]).await?;
        }
        if !kept.is_empty() {
            transaction
                .run(&queries.keep_until, &[&kept, &until])
                .await?;
        }
        let live: Vec<(TaskId, Row)> = due.into_iter().filter(|(_, row)| !row.ended).collect();
        let numbers: Vec<i64> = live.iter().map(|(_, row)| row.task).collect();
        let journals = if numbers.is_empty() {
            Vec::new()
        } else {
            transaction.run(&queries.journals, &[&numbers]).await?
        };
        let journals: HashMap<i64, &SqlRow> =
            journals.iter().map(|row| (row.get(0), row)).collect();
        let mut done = Done::default();
        for (id, row) in live {
            let number = row.task;
            match self.end_one(id.clone(), row, journals.get(&number).copied(), now) {
                Ok(Some(mut task)) => {
                    // The row is locked, so that it is as it was.
                    if self.put_in(&mut transaction, &mut task).await? {
                        done.changed.push(task);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(task = %id, "the task is left alone: {error}");
                    transaction.run(&queries.set_aside, &[&number]).await?;
                    done.damaged.push(id);
                }
            }
        }
        transaction.commit().await?;
        Ok(done)
    }

    /// What time makes of a live task.
    fn end_one(
        &self,
        id: TaskId,
        row: Row,
        journal: Option<&SqlRow>,
        now: Timestamp,
    ) -> Result<Option<Task>, StoreError> {
        let journal = journal.map(|row| journal_in(&id, row, 1)).transpose()?;
        // The database has said that it is due.
        let now = now.max(time(row.due_at));
        let state = replay(&id, &journal.unwrap_or_default(), row.seq)?;
        let events = state.elapse(now);
        let mut task = Task::new(id, row, state);
        match self.append_from_outside(&mut task, events)? {
            Worked::Write(()) => Ok(Some(task)),
            Worked::Leave(()) => Ok(None),
        }
    }
}

fn read(sql: &SqlRow) -> (TaskId, Row) {
    (TaskId::from_text(&was(sql.get(COLUMNS))), Row::read(sql, 0))
}

/// When an ended task is to be deleted, as in [`Snapshot::due`](crate::task::Snapshot).
fn deleted_at(row: &Row, retention: Retention) -> i64 {
    let ended_at = time(row.updated_at);
    let expires_at = (row.expires_at != NEVER).then(|| time(row.expires_at));
    retention
        .ends_at(ended_at, expires_at)
        .map_or(NEVER, stored)
}
