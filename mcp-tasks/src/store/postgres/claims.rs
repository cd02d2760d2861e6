//! Who gets which task to run.
//!
//! Work is found by index alone, and claimed in one statement for all that there is
//! room for; what another replica is claiming is passed over. Callers take turns: a
//! hundred thousand tasks of one do not hold up the one task of another.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use tokio_postgres::Row as SqlRow;
use tokio_postgres::types::ToSql;

use super::holders::Me;
use super::ledger::{Ledger, Task, Worked, journal_in, replay};
use super::query::Query;
use super::row::{COLUMNS, Row, columns};
use super::schema::now;
use super::text::{kept, was};
use super::trouble::Trouble;
use crate::store::columns::time;
use crate::store::{Claim, StoreError, Wanted, Work};
use crate::task::{Access, Event, TaskId};

/// When something is looked for again that others were at.
const PASSED_OVER_MS: u64 = 20;

pub(super) struct Queries {
    claim: Query,
    claim_one: Query,
    wake_more: Query,
    journals: Query,
    runs_any: Query,
    lock_suspects: Query,
    runs_a_suspect: Query,
    claim_suspect: Query,
    set_aside: Query,
}

/// What makes a row its claimer's.
macro_rules! take {
    () => {
        "holder = $1::int8, fencing = t.fencing + 1, revision = t.revision + 1, running = TRUE,
         recover = FALSE, unseen = 0, wake_at = 9223372036854775807"
    };
}

/// The claimer's own row: it is not removed before the claim is there to be seen.
macro_rules! me {
    () => {
        "me AS MATERIALIZED (
            SELECT holder FROM @holders WHERE holder = $1::int8 FOR KEY SHARE
        ), "
    };
}

/// Which tasks are ready for whoever has their code.
macro_rules! ready {
    () => {
        "holder = 0 AND wake_at BETWEEN -1 AND 0"
    };
}

/// What a claim gives of each task.
macro_rules! taken {
    () => {
        concat!(columns!(), ", t.id")
    };
}

/// Candidates are more than there is room for, so that replicas that look at the
/// same time find some that the others leave.
const CLAIM: &str = concat!(
    "WITH ",
    me!(),
    "turns AS (
        SELECT c.code, n.caller FROM unnest($2::int4[]) AS c(code), LATERAL (
            WITH RECURSIVE next(caller) AS (
                (SELECT t.caller FROM @tasks t WHERE ",
    ready!(),
    " AND t.code = c.code AND t.caller >= $4::text ORDER BY t.caller LIMIT 1)
                UNION ALL
                SELECT (SELECT t.caller FROM @tasks t WHERE ",
    ready!(),
    " AND t.code = c.code AND t.caller > next.caller ORDER BY t.caller LIMIT 1)
                FROM next WHERE next.caller IS NOT NULL
            )
            SELECT caller FROM next WHERE caller IS NOT NULL LIMIT $3::int8
        ) n
    ), ready AS (
        SELECT r.task, r.turn AS place FROM (
            SELECT r.task, row_number() OVER (PARTITION BY turns.caller ORDER BY r.task) AS turn
            FROM turns, LATERAL (
                SELECT t.task FROM @tasks t WHERE ",
    ready!(),
    " AND t.code = turns.code AND t.caller = turns.caller ORDER BY t.task LIMIT 4 * $3::int8
            ) r
        ) r ORDER BY turn, task LIMIT 4 * $3::int8
    ), due AS (
        SELECT d.task, row_number() OVER (ORDER BY d.turn, d.wake_at) AS place FROM (
            SELECT d.task, d.wake_at,
                row_number() OVER (PARTITION BY d.caller ORDER BY d.wake_at) AS turn
            FROM unnest($2::int4[]) AS c(code), LATERAL (
                SELECT t.task, t.wake_at, t.caller FROM @tasks t
                WHERE t.holder = 0 AND t.wake_at BETWEEN 1 AND 9223372036854775806
                    AND t.code = c.code AND t.wake_at <= ",
    now!(),
    " ORDER BY t.wake_at LIMIT 4 * $3::int8
            ) d ORDER BY d.wake_at LIMIT 4 * $3::int8
        ) d
    ), held AS (
        SELECT h.task FROM unnest($2::int4[]) AS c(code), LATERAL (
            (SELECT t.task FROM @tasks t WHERE t.holder = 0 AND t.held = 1 AND t.code = c.code
                AND t.held_last < $1::int8 LIMIT $3::int8)
            UNION ALL
            (SELECT t.task FROM @tasks t WHERE t.holder = 0 AND t.held = 1 AND t.code = c.code
                AND t.held_first > $1::int8 LIMIT $3::int8)
            UNION ALL
            (SELECT t.task FROM @tasks t WHERE t.holder = 0 AND t.held = 2 AND t.code = c.code
                AND t.held_build < $5::text LIMIT $3::int8)
            UNION ALL
            (SELECT t.task FROM @tasks t WHERE t.holder = 0 AND t.held = 2 AND t.code = c.code
                AND t.held_build > $5::text LIMIT $3::int8)
        ) h LIMIT 4 * $3::int8
    ), found AS (
        SELECT task, 0 AS kind, place FROM ready UNION ALL SELECT task, 1, place FROM due
        UNION ALL SELECT task, 2, 0 FROM held
    ), free AS (
        SELECT t.task, t.recover FROM @tasks t JOIN found ON t.task = found.task
        WHERE t.holder = 0 AND t.wake_at <> -2 AND (t.held > 0 OR t.wake_at <= ",
    now!(),
    ") ORDER BY found.kind, found.place, t.task LIMIT $3::int8 FOR UPDATE OF t SKIP LOCKED
    ), taken AS (
        UPDATE @tasks t SET ",
    take!(),
    " FROM free, me WHERE t.task = free.task RETURNING ",
    taken!(),
    ", free.recover AS was_running
    )
    SELECT (SELECT count(*) FROM ready) + (SELECT count(*) FROM held), (SELECT count(*) FROM due),
        (SELECT count(DISTINCT caller) FROM turns), (SELECT max(caller) FROM turns),
        EXISTS (SELECT FROM @tasks t JOIN unnest($2::int4[]) AS c(code) ON t.code = c.code
            WHERE t.holder = 0 AND t.wake_at = -2),
        (SELECT min(n.wake_at) FROM unnest($2::int4[]) AS c(code), LATERAL (
            SELECT t.wake_at FROM @tasks t
            WHERE t.holder = 0 AND t.wake_at BETWEEN 1 AND 9223372036854775806
                AND t.code = c.code AND t.wake_at > ",
    now!(),
    " ORDER BY t.wake_at LIMIT 1
        ) n),
        taken.*
    FROM (SELECT 1) one LEFT JOIN taken ON TRUE"
);

/// How many columns stand before those of a task that was taken.
const OF_ALL: usize = 6;

const CLAIM_ONE: &str = concat!(
    "WITH ",
    me!(),
    "free AS (
        SELECT t.task, t.recover FROM @tasks t
        WHERE t.id = $2::text AND t.code = ANY ($3::int4[]) AND t.holder = 0 AND t.wake_at <> -2
            AND (t.wake_at <= ",
    now!(),
    " OR (t.held = 1 AND (t.held_last < $1::int8 OR t.held_first > $1::int8))
                OR (t.held = 2 AND t.held_build <> $4::text))
        FOR UPDATE SKIP LOCKED
    )
    UPDATE @tasks t SET ",
    take!(),
    " FROM free, me WHERE t.task = free.task RETURNING ",
    taken!(),
    ", free.recover AS was_running"
);

const CLAIM_SUSPECT: &str = concat!(
    "WITH ",
    me!(),
    "free AS (
        SELECT t.task, t.recover FROM @tasks t
        WHERE t.holder = 0 AND t.wake_at = -2 AND t.code = ANY ($2::int4[])
            AND t.id = coalesce($3::text, t.id)
        ORDER BY t.task LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE @tasks t SET ",
    take!(),
    " FROM free, me WHERE t.task = free.task RETURNING ",
    taken!(),
    ", free.recover AS was_running"
);

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            claim: query(CLAIM),
            claim_one: query(CLAIM_ONE),
            claim_suspect: query(CLAIM_SUSPECT),
            // Timers of one caller that are due all at once are made ready, so that
            // callers take turns.
            wake_more: query(concat!(
                "WITH due AS (
                    SELECT t.task FROM @tasks t
                    WHERE t.holder = 0 AND t.wake_at BETWEEN 1 AND 9223372036854775806
                        AND t.code = ANY ($1::int4[]) AND t.wake_at <= ",
                now!(),
                " ORDER BY t.wake_at LIMIT 1000 FOR UPDATE SKIP LOCKED
                 )
                 UPDATE @tasks t SET revision = t.revision + 1, wake_at = 0 FROM due
                 WHERE t.task = due.task",
            )),
            journals: query(
                "SELECT task, array_agg(seq ORDER BY seq), array_agg(at ORDER BY seq),
                     array_agg(format ORDER BY seq), array_agg(event ORDER BY seq)
                 FROM @journal WHERE task = ANY ($1::int8[]) GROUP BY task",
            ),
            runs_any: query(
                "SELECT EXISTS (SELECT FROM @tasks t WHERE t.holder = $1::int8 AND t.holder > 0
                     AND t.running AND t.task <> ALL ($2::int8[]))",
            ),
            lock_suspects: query("SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"),
            runs_a_suspect: query(
                "SELECT EXISTS (SELECT FROM @tasks t WHERE t.holder > 0 AND t.distrust = 2
                     AND t.running)",
            ),
            set_aside: query(
                "UPDATE @tasks t SET revision = t.revision + 1, holder = 0, held = 0, distrust = 0,
                     wake_at = 9223372036854775807, due_at = 9223372036854775807
                 WHERE t.task = $1::int8",
            ),
        }
    }
}

/// Whoever hears that nothing has happened would leave what was claimed to nobody.
fn claimed_all_the_same(error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(words) => StoreError::Unsure(words),
        error => error,
    }
}

/// A task that was just claimed, and is not ready to be run.
struct Taken {
    id: TaskId,
    row: Row,
    /// Whether it ran when its holder died.
    recover: bool,
}

impl Taken {
    fn read(sql: &SqlRow, first: usize) -> Option<Self> {
        let id: Option<&str> = sql.try_get(first + COLUMNS).ok()?;
        Some(Self {
            id: TaskId::from_text(&was(id?)),
            row: Row::read(sql, first),
            recover: sql.get(first + COLUMNS + 1),
        })
    }
}

impl Ledger {
    /// Claims what is wanted.
    pub(super) async fn claim(&self, wanted: &Wanted<'_>) -> Result<Work, StoreError> {
        let me = self.me()?;
        let codes = self.codes(&me, wanted.tools).await?;
        match wanted.only {
            Some(id) => self.claim_one(&me, &codes, id).await,
            None => self.claim_any(&me, &codes, wanted.limit).await,
        }
    }

    async fn claim_any(&self, me: &Me, codes: &[i32], limit: usize) -> Result<Work, StoreError> {
        let after = std::mem::take(&mut *self.cursor());
        let mut work = self.claim_after(me, codes, limit, &after).await?;
        if !after.is_empty() && work.claims.len() < limit {
            // Callers before it have not had their turn.
            let left = limit - work.claims.len();
            let more = self.claim_after(me, codes, left, "").await?;
            work.claims.extend(more.claims);
            work.next = more.next;
        }
        Ok(work)
    }

    /// Claims tasks of callers that come after one, as far as there are more callers
    /// than tasks to claim.
    async fn claim_after(
        &self,
        me: &Me,
        codes: &[i32],
        limit: usize,
        after: &str,
    ) -> Result<Work, StoreError> {
        let mut work = Work::default();
        let most = i64::try_from(limit).unwrap_or(i64::MAX / 8).min(1000);
        let rows = self
            .connections
            .write(
                &self.queries.claims.claim,
                &[&me.id.0, &codes, &most, &after, &&*me.build],
            )
            .await?;
        let Some(first) = rows.first() else {
            return Ok(work);
        };
        let (ready, due, callers): (i64, i64, i64) = (first.get(0), first.get(1), first.get(2));
        let has_suspects: bool = first.get(4);
        let next: Option<i64> = first.get(5);
        work.next = next.map(time);
        let taken: Vec<Taken> = rows
            .iter()
            .filter_map(|row| Taken::read(row, OF_ALL))
            .collect();
        let count = i64::try_from(taken.len()).unwrap_or(i64::MAX);
        // The next turn begins after the caller that had the last.
        let last: Option<String> = first.get(3);
        let next = last.filter(|_| callers >= most).map(|last| last + "\u{1}");
        *self.cursor() = next.unwrap_or_default();
        if ready + due > count {
            // Others are at them; if they leave them after all, somebody must look.
            work.next = Some(self.clock.now().plus_millis(PASSED_OVER_MS));
        }
        let is_any = !taken.is_empty();
        let rest = async {
            if due >= 4 * most {
                let more = &self.queries.claims.wake_more;
                self.connections.write(more, &[&codes]).await?;
            }
            self.prepare_claims(me, taken, &mut work).await?;
            if has_suspects && work.claims.len() < limit {
                self.claim_suspect(me, codes, None, &mut work).await?;
            }
            Ok(())
        };
        match rest.await {
            Err(error) if is_any => Err(claimed_all_the_same(error)),
            rest => rest.map(|()| work),
        }
    }

    async fn claim_one(&self, me: &Me, codes: &[i32], id: &TaskId) -> Result<Work, StoreError> {
        let mut work = Work::default();
        let rows = self
            .connections
            .write(
                &self.queries.claims.claim_one,
                &[&me.id.0, &kept(id.as_str()), &codes, &&*me.build],
            )
            .await?;
        let taken: Vec<Taken> = rows.iter().filter_map(|row| Taken::read(row, 0)).collect();
        if !taken.is_empty() {
            let prepared = self.prepare_claims(me, taken, &mut work).await;
            return prepared.map(|()| work).map_err(claimed_all_the_same);
        }
        self.claim_suspect(me, codes, Some(id), &mut work).await?;
        Ok(work)
    }

    /// Claims a suspect, if no living holder runs one.
    ///
    /// That is looked up and done by one replica at a time.
    async fn claim_suspect(
        &self,
        me: &Me,
        codes: &[i32],
        only: Option<&TaskId>,
        work: &mut Work,
    ) -> Result<(), StoreError> {
        let queries = &self.queries.claims;
        let lock = format!("mcp-tasks suspects {}", self.name.as_str());
        let only = only.map(|id| kept(id.as_str()));
        let claimed = async {
            let mut transaction = self.connections.begin().await?;
            transaction.run(&queries.lock_suspects, &[&lock]).await?;
            let runs = transaction.run(&queries.runs_a_suspect, &[]).await?;
            let values: [&(dyn ToSql + Sync); 3] = [&me.id.0, &codes, &only];
            let rows = match runs.first() {
                Some(row) if row.get(0) => Vec::new(),
                _ => transaction.run(&queries.claim_suspect, &values).await?,
            };
            transaction.commit().await?;
            Ok(rows)
        };
        let rows = match claimed.await {
            Ok(rows) => rows,
            // Another has been at it; there is a next time.
            Err(Trouble::Again) => return Ok(()),
            Err(Trouble::Refused(error)) => return Err(error),
        };
        let taken = rows.iter().filter_map(|row| Taken::read(row, 0)).collect();
        let prepared = self.prepare_claims(me, taken, work).await;
        prepared.map_err(claimed_all_the_same)
    }

    /// Reads the journals of tasks that were claimed, and notes in them what has to
    /// be recovered.
    async fn prepare_claims(
        &self,
        me: &Me,
        taken: Vec<Taken>,
        work: &mut Work,
    ) -> Result<(), StoreError> {
        if taken.is_empty() {
            return Ok(());
        }
        let queries = &self.queries.claims;
        let numbers: Vec<i64> = taken.iter().map(|taken| taken.row.task).collect();
        let rows = self
            .connections
            .read(&queries.journals, &[&numbers])
            .await?;
        let journals: HashMap<i64, &SqlRow> = rows.iter().map(|row| (row.get(0), row)).collect();
        let recovers = taken.iter().any(|taken| taken.recover);
        let mut alone =
            recovers && work.claims.is_empty() && !self.runs_others(me, &numbers).await?;
        for taken in taken {
            let journal = journals.get(&taken.row.task).copied();
            match self.prepare_claim(&taken, journal, alone).await {
                Ok(claim) => {
                    alone &= !taken.recover;
                    work.claims.extend(claim);
                }
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::error!(task = %taken.id, "the task is left alone: {error}");
                    let task = [&taken.row.task as &(dyn ToSql + Sync)];
                    self.connections.write(&queries.set_aside, &task).await?;
                    self.forget(&taken.id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The claim on one task; none if it is another's already, or has ended.
    async fn prepare_claim(
        &self,
        taken: &Taken,
        journal: Option<&SqlRow>,
        alone: bool,
    ) -> Result<Option<Claim>, StoreError> {
        let Taken { id, row, recover } = taken;
        let mut row = row.clone();
        let mut journal = match journal {
            Some(sql) => journal_in(id, sql, 1)?,
            None => Vec::new(),
        };
        if journal.last().map(|entry| entry.seq) != Some(row.seq) {
            // Others have appended since it was claimed: they need no claim.
            let is_mine =
                |now: &Task| now.row.fencing == row.fencing && now.row.holder == row.holder;
            let now = self.load(id, Access::Server).await?.filter(is_mine);
            let Some((its, Some(read))) = now.map(|now| (now.row, now.journal)) else {
                return Ok(None);
            };
            (row, journal) = (its, read);
        }
        let state = replay(id, &journal, row.seq)?;
        let mut claim = Claim {
            fencing: row.fencing,
            last: row.seq,
            snapshot: state.snapshot().clone(),
        };
        self.remember(id.clone(), row.clone(), state);
        if *recover {
            let recovered = self
                .change(id, Access::Server, |task| {
                    if task.row.fencing != row.fencing || task.row.holder != row.holder {
                        return Ok(Worked::Leave(false));
                    }
                    if task.state().is_none() {
                        return Ok(Worked::Leave(false));
                    }
                    task.append([Event::RecoveryStarted { alone }], self.clock.now())?;
                    Ok(Worked::Write(true))
                })
                .await?;
            let Some((true, task)) = recovered else {
                return Ok(None);
            };
            claim.last = task.row.seq;
            claim.snapshot = task.snapshot().clone();
            if let Some(read) = task.journal {
                journal = read;
            }
            journal.extend(task.entries);
        }
        self.handover.put(id.clone(), journal);
        Ok(Some(claim))
    }

    /// Whether this holder runs any task besides those that it has just claimed.
    async fn runs_others(&self, me: &Me, claimed: &[i64]) -> Result<bool, StoreError> {
        let query = &self.queries.claims.runs_any;
        let rows = self.connections.read(query, &[&me.id.0, &claimed]).await?;
        Ok(rows.first().is_some_and(|row| row.get(0)))
    }

    fn cursor(&self) -> MutexGuard<'_, String> {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
