//! What happens to tasks: from their holders and from others.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;

use super::holders::Me;
use super::ledger::{Ledger, Task, Worked, next_slot};
use super::query::Query;
use super::row::{HolderId, Row, Unseen};
use super::text::kept;
use crate::store::columns::{stored, to_json};
use crate::store::near::Brief;
use crate::store::{Change, Claim, Commit, Delivery, LiveLimits, StoreError, ToCommit, begun};
use crate::task::{Access, Answer, Entry, Event, FORMAT, FencingNumber, TaskId, TaskState};

/// A task with its journal, if there is room for it; says where there is none.
///
/// Callers are counted exactly: two that begin tasks for one caller wait for each
/// other. All together are counted as they stand when the statement begins.
///
/// A holder whose lease was lost and who has not heard of that begins tasks that
/// nobody has: others run them.
const BEGIN: &str = "WITH me AS MATERIALIZED (
        SELECT holder FROM @holders WHERE holder = $7::int8 FOR KEY SHARE
    ), room AS (
        SELECT 1 WHERE (SELECT sum(live) FROM @totals) < $1::int8
    ), of_caller AS (
        INSERT INTO @callers AS c (caller, live) SELECT $2::text, 1 FROM room
        WHERE NOT $3::bool AND $4::int8 > 0
        ON CONFLICT (caller) DO UPDATE SET live = c.live + 1 WHERE c.live < $4::int8
        RETURNING 1
    ), begun AS (
        INSERT INTO @tasks (id, code, caller, revision, holder, fencing, seq, status, running,
            unseen, recover, distrust, held, held_first, held_last, held_build, timer_at, wake_at,
            ended, state, updated_at, expires_at, due_at, snapshot)
        SELECT $5::text, $6::int4, $2::text, 1, coalesce((SELECT holder FROM me), 0), 1, $8::int8, $9::int8, $10::bool, 0,
            FALSE, $11::int2, 0, 0, 0, '', $12::int8,
            CASE WHEN EXISTS (SELECT FROM me) THEN $13::int8 ELSE -1 END, $14::bool, $15::int2, $16::int8,
            $17::int8, $18::int8, $19::text
        FROM room WHERE $3::bool OR EXISTS (SELECT FROM of_caller)
        RETURNING task
    ), of_all AS (
        UPDATE @totals SET live = live + 1, stored = stored + 1 FROM begun WHERE slot = $20::int4
    ), said AS (
        INSERT INTO @journal (task, seq, at, format, event)
        SELECT begun.task, e.seq, e.at, $24::int2, e.event
        FROM begun, unnest($21::int8[], $22::int8[], $23::text[]) AS e(seq, at, event)
    )
    SELECT (SELECT sum(live)::int8 FROM @totals), (SELECT live FROM @callers WHERE caller = $2::text),
        (SELECT task FROM begun)";

impl Ledger {
    pub(super) async fn begin(
        &self,
        journal: &[Entry],
        limits: LiveLimits,
    ) -> Result<Claim, StoreError> {
        let me = self.me()?;
        let state = begun(journal)?;
        let snapshot = state.snapshot().clone();
        let code = self.code(&me, &snapshot.tool, snapshot.version).await?;
        let mut row = Row::new(code, &state, me.id, me.retention);
        let is_status = |entry: &&Entry| matches!(entry.event, Event::Status { .. });
        row.status = journal.iter().rfind(is_status).map_or(0, |entry| entry.seq);
        let said = journal
            .iter()
            .filter(|entry| !is_status(entry) || entry.seq == row.status);
        let said: Vec<&Entry> = said.collect();
        let text = to_json(&snapshot);
        let most = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self
            .connections
            .write(
                &self.queries.changes.begin,
                &[
                    &most(limits.total),
                    &kept(row.caller.as_str()),
                    &row.caller.is_anonymous(),
                    &most(limits.per_caller),
                    &kept(snapshot.id.as_str()),
                    &code,
                    &me.id.0,
                    &row.seq.cast_signed(),
                    &row.status.cast_signed(),
                    &row.running,
                    &row.distrust,
                    &row.timer_at,
                    &row.wake_at,
                    &row.ended,
                    &row.state,
                    &row.updated_at,
                    &row.expires_at,
                    &row.due_at,
                    &text,
                    &next_slot(),
                    &said
                        .iter()
                        .map(|entry| entry.seq.cast_signed())
                        .collect::<Vec<_>>(),
                    &said
                        .iter()
                        .map(|entry| stored(entry.at))
                        .collect::<Vec<_>>(),
                    &said
                        .iter()
                        .map(|entry| to_json(&entry.event))
                        .collect::<Vec<_>>(),
                    &i16::try_from(FORMAT).unwrap_or(i16::MAX),
                ],
            )
            .await?;
        let row_of = rows.first();
        let task: Option<i64> = row_of.and_then(|row| row.get(2));
        let Some(task) = task else {
            let count = |column| {
                let count: Option<i64> = row_of.and_then(|row| row.get(column));
                usize::try_from(count.unwrap_or_default()).unwrap_or(0)
            };
            limits.check_total(count(0))?;
            limits.check_caller(count(1).max(limits.per_caller))?;
            return Err(StoreError::Unavailable("no task was begun".to_owned()));
        };
        row.task = task;
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.snapshots
            .put(Brief::new(row.seq, &snapshot, &text).into_iter());
        let claim = Claim {
            fencing: FencingNumber(1),
            last: row.seq,
            snapshot: snapshot.clone(),
        };
        self.remember(snapshot.id.clone(), row, state);
        self.news.tell(&snapshot.id, None, false);
        Ok(claim)
    }

    pub(super) async fn commit(&self, commit: &ToCommit<'_>) -> Result<Commit, StoreError> {
        let me = self.holder().map(|me| me.id);
        let changed = self
            .change(commit.id, Access::Server, |task| {
                let is_anothers = Some(task.row.holder) != me && !task.row.ended;
                if task.row.fencing != commit.fencing || is_anothers {
                    return Ok(Worked::Leave(Commit::Lost));
                }
                if task.row.seq != commit.last {
                    // What is not at hand is read, and then it is.
                    let missing = task.after(commit.last)?.unwrap_or_default();
                    return Ok(Worked::Leave(Commit::Behind(missing)));
                }
                let holds = |event: &Event| matches!(event, Event::Held(_));
                if commit.events.iter().any(holds) {
                    task.row.hold();
                }
                task.append(commit.events.iter().cloned(), self.clock.now())?;
                task.row.unseen = Unseen::NOTHING;
                task.row.note(commit.then);
                Ok(Worked::Write(Commit::Done(task.snapshot().clone())))
            })
            .await?;
        let Some((outcome, task)) = changed else {
            return Ok(Commit::Lost);
        };
        if matches!(outcome, Commit::Done(_)) && !task.entries.is_empty() {
            self.tell(&task);
        }
        Ok(outcome)
    }

    pub(super) async fn deliver(
        &self,
        id: &TaskId,
        access: Access<'_>,
        answers: &[Answer<'_>],
    ) -> Result<Option<Delivery>, StoreError> {
        let mut answered = Vec::new();
        let changed = self
            .change(id, access, |task| match task.snapshot().judge(answers) {
                Ok(events) => {
                    let state = task.state();
                    answered = state.map_or_else(Vec::new, |state| state.answered_by(&events));
                    Ok(match self.append_from_outside(task, events)? {
                        Worked::Write(()) => Worked::Write(None),
                        Worked::Leave(()) => Worked::Leave(None),
                    })
                }
                Err(refusal) => Ok(Worked::Leave(Some(refusal))),
            })
            .await?;
        let Some((refusal, task)) = changed else {
            return Ok(None);
        };
        if let Some(refusal) = refusal {
            return Ok(Some(Delivery::Refused(refusal)));
        }
        let mut change = self.has_appended(&task);
        change.answered = answered;
        Ok(Some(Delivery::Recorded(change)))
    }

    pub(super) async fn cancel(
        &self,
        id: &TaskId,
        access: Access<'_>,
    ) -> Result<Option<Change>, StoreError> {
        self.append(id, access, TaskState::cancel).await
    }

    pub(super) async fn signal(
        &self,
        id: &TaskId,
        name: &str,
        value: &Arc<RawValue>,
    ) -> Result<Option<Change>, StoreError> {
        self.append(id, Access::Server, |state| state.signal(name, value))
            .await
    }

    async fn append(
        &self,
        id: &TaskId,
        access: Access<'_>,
        mut events: impl FnMut(&TaskState) -> Vec<Event>,
    ) -> Result<Option<Change>, StoreError> {
        let changed = self
            .change(id, access, |task| {
                let events = task.state().map(&mut events).unwrap_or_default();
                self.append_from_outside(task, events)
            })
            .await?;
        Ok(changed.map(|((), task)| self.has_appended(&task)))
    }

    /// Appends what somebody has to say who need not be the holder.
    pub(super) fn append_from_outside(
        &self,
        task: &mut Task,
        events: Vec<Event>,
    ) -> Result<Worked<()>, StoreError> {
        if events.is_empty() {
            return Ok(Worked::Leave(()));
        }
        let is_news = events.iter().any(Event::is_outcome);
        task.append(events, self.clock.now())?;
        let has_ended = task.snapshot().is_terminal();
        let is_me = self.is_me(task.row.holder);
        let unseen = &mut task.row.unseen;
        if is_me {
            if has_ended {
                *unseen = Unseen::NOTHING;
            } else if is_news && *unseen == Unseen::NOTHING {
                *unseen = Unseen::FROM_ITSELF;
            }
        } else if task.row.holder == HolderId::NOBODY && has_ended {
            *unseen = Unseen::NOTHING;
        } else if is_news || has_ended {
            *unseen = Unseen::FROM_OTHERS;
        }
        Ok(Worked::Write(()))
    }

    /// Tells whoever is concerned of what was appended.
    pub(super) fn has_appended(&self, task: &Task) -> Change {
        if !task.entries.is_empty() {
            if self.is_me(task.before.holder) {
                self.handover.put(task.id.clone(), task.entries.clone());
            }
            self.tell(task);
        }
        task.to_change(self.clock.now())
    }

    fn is_me(&self, holder: HolderId) -> bool {
        self.holder().is_some_and(|me| me.id == holder)
    }

    /// The number of a tool's code.
    async fn code(&self, me: &Me, tool: &Arc<str>, version: u32) -> Result<i32, StoreError> {
        if let Some(code) = me.codes.get(tool, version) {
            return Ok(code);
        }
        let wanted = [(tool.clone(), version)];
        let codes = self.codes(me, &wanted).await?;
        codes.first().copied().ok_or_else(|| {
            StoreError::Unavailable(format!("the tool `{tool}` could not be entered"))
        })
    }

    /// The numbers of tools and versions, which are entered if they are not there.
    pub(super) async fn codes(
        &self,
        me: &Me,
        wanted: &[(Arc<str>, u32)],
    ) -> Result<Vec<i32>, StoreError> {
        if let Some(codes) = me.codes.all(wanted) {
            return Ok(codes);
        }
        let tools: Vec<&str> = wanted.iter().map(|(tool, _)| &**tool).collect();
        let versions: Vec<i64> = wanted
            .iter()
            .map(|(_, version)| (*version).into())
            .collect();
        let server: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&&*me.server, &&*me.scope, &tools, &versions];
        self.connections
            .write(&self.queries.changes.enter_codes, &server)
            .await?;
        let rows = self
            .connections
            .read(&self.queries.changes.codes, &server)
            .await?;
        for row in rows {
            let version: i64 = row.get(1);
            let version = u32::try_from(version).unwrap_or(u32::MAX);
            me.codes
                .put(row.get::<_, &str>(0).into(), version, row.get(2));
        }
        Ok(me.codes.all(wanted).unwrap_or_default())
    }
}

pub(super) struct Queries {
    pub(super) begin: Query,
    pub(super) enter_codes: Query,
    pub(super) codes: Query,
}

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            begin: query(BEGIN),
            enter_codes: query(
                "INSERT INTO @codes (server, scope, tool, version)
                 SELECT $1::text, $2::text, w.tool, w.version
                 FROM unnest($3::text[], $4::int8[]) AS w(tool, version)
                 WHERE NOT EXISTS (
                     SELECT FROM @codes c WHERE c.server = $1::text AND c.scope = $2::text
                         AND c.tool = w.tool AND c.version = w.version
                 )
                 ON CONFLICT DO NOTHING",
            ),
            codes: query(
                "SELECT c.tool, c.version, c.code
                 FROM @codes c JOIN unnest($3::text[], $4::int8[]) AS w(tool, version)
                     ON c.tool = w.tool AND c.version = w.version
                 WHERE c.server = $1::text AND c.scope = $2::text",
            ),
        }
    }
}
