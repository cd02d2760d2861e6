//! Who gets which task to run.
//!
//! Work is found by index alone: for each tool that is wanted, for each holder
//! that does not live any more, the tasks in the order of waking. What waits
//! for something other than the clock is in no index that is looked at here,
//! and neither are the tasks that living holders run.

use std::collections::{BTreeSet, HashSet};

use rusqlite::{OptionalExtension, ToSql, params};

use super::holders::{HolderId, Me, holders};
use super::ledger::Ledger;
use super::row::{CodeNumber, Unseen, stored, time};
use super::schema::ARRIVED;
use super::trouble::Fault;
use crate::store::turns::in_turns;
use crate::store::{Claim, StoreError, Wanted, Work};
use crate::task::{Access, Event, FencingNumber, TaskId, Timestamp};

/// Where a suspect stands in the order of waking.
const SUSPECT: i64 = i64::MIN;

/// A task that may be claimed.
pub(super) struct Candidate {
    wake_at: i64,
    id: TaskId,
    caller: String,
}

impl Candidate {
    /// From its id, when it is to wake, and its caller.
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: TaskId::from_text(row.get_ref(0)?.as_str()?),
            wake_at: row.get(1)?,
            caller: row.get(2)?,
        })
    }
}

/// Where tasks that are to be run are found; each stands for an index.
#[derive(Clone, Copy)]
pub(super) enum Shelf {
    ToWake,
    Distrusted,
    Held,
    Poisonous,
}

impl Shelf {
    /// The condition of the partial index, word for word.
    pub(super) const fn condition(self) -> &'static str {
        match self {
            Self::ToWake => "wake_at < 9223372036854775807",
            Self::Distrusted => "distrust > 0",
            Self::Held => "held = 1",
            Self::Poisonous => "held = 2",
        }
    }

    /// Ranges of an index in which the tasks are that `?4` has not tried: a
    /// holder, or of what is poisonous a build.
    const fn untried(self) -> &'static [&'static str] {
        match self {
            Self::ToWake | Self::Distrusted => &["?4 IS NOT NULL"],
            Self::Held => &["held_last < ?4", "held_first > ?4"],
            Self::Poisonous => &["held_build < ?4", "held_build > ?4"],
        }
    }
}

/// What a claim needs to know again and again.
pub(super) struct Search<'a> {
    me: &'a Me,
    codes: Vec<CodeNumber>,
    living: BTreeSet<HolderId>,
    pub(super) limit: usize,
    pub(super) now: Timestamp,
}

impl Ledger {
    /// Claims what is wanted: callers in turn, and of each the oldest need first.
    pub(super) fn claim(&mut self, wanted: &Wanted<'_>, now: Timestamp) -> Result<Work, Fault> {
        let me = self.me()?;
        if !self.is_alive(me.id, now)? {
            // Whatever it claimed others would take from it at once.
            return Ok(Work::default());
        }
        let mut codes = Vec::new();
        for (tool, version) in wanted.tools {
            codes.extend(self.code(&me, tool, *version)?);
        }
        let living = holders(&self.connection)?
            .into_iter()
            .filter(|(_, until)| *until >= stored(now))
            .map(|(holder, _)| holder)
            .collect();
        let search = Search {
            me: &me,
            codes,
            living,
            limit: wanted.limit,
            now,
        };
        let mut work = Work::default();
        let candidates = match wanted.only {
            Some(id) => vec![Candidate {
                wake_at: ARRIVED,
                id: id.clone(),
                caller: String::new(),
            }],
            None => self.candidates(&search, &mut work)?,
        };
        for Candidate { id, .. } in candidates {
            if work.claims.len() >= wanted.limit {
                break;
            }
            match self.claim_one(&search, &id, &mut work) {
                Err(Fault::Refused(error @ StoreError::Damaged { .. }))
                    if wanted.only.is_none() =>
                {
                    self.set_aside(&id, &error)?;
                }
                done => done?,
            }
        }
        if wanted.only.is_none()
            && let Some(last) = work.claims.last()
        {
            last.snapshot
                .caller
                .as_str()
                .clone_into(&mut self.turns.last);
        }
        Ok(work)
    }

    fn claim_one(
        &mut self,
        search: &Search<'_>,
        id: &TaskId,
        work: &mut Work,
    ) -> Result<(), Fault> {
        let Some(row) = self.find(id, Access::Server)? else {
            return Ok(());
        };
        let me = search.me;
        if search.living.contains(&row.waking.holder) || !search.codes.contains(&row.code) {
            return Ok(());
        }
        if !row.must_run(search.now) && !row.is_held_from_others(me.id, &me.build) {
            work.next = earlier(work.next, row.wakes_at());
            return Ok(());
        }
        let died_running = row.waking.holder != HolderId::NOBODY && row.running;
        if row.waking.distrust > 0 && died_running && self.runs_a_suspect(search)? {
            return Ok(());
        }
        let mut task = self.take_up(id, row)?;
        if died_running {
            let alone = work.claims.is_empty() && !self.runs_any(search)?;
            task.append([Event::RecoveryStarted { alone }], search.now)?;
        }
        task.row.waking.holder = me.id;
        task.row.waking.unseen = Unseen::NOTHING;
        task.row.fencing = FencingNumber(task.row.fencing.0 + 1);
        task.row.running = true;
        let snapshot = task.snapshot().clone();
        let row = self.put_down(task)?;
        work.claims.push(Claim {
            fencing: row.fencing,
            last: row.seq,
            snapshot,
        });
        Ok(())
    }

    /// Every task that may be claimed, up to the limit of each kind.
    fn candidates(
        &mut self,
        search: &Search<'_>,
        work: &mut Work,
    ) -> Result<Vec<Candidate>, Fault> {
        let mut found = Vec::new();
        for code in &search.codes {
            // Of the suspects one gets through; those that are not yet are few.
            self.on_shelf(search, *code, Shelf::Distrusted, &mut found)?;
            self.on_shelf(search, *code, Shelf::Held, &mut found)?;
            self.on_shelf(search, *code, Shelf::Poisonous, &mut found)?;
            self.woken(search, *code, &mut found, work)?;
        }
        found.sort_by_key(|candidate| candidate.wake_at);
        if found.len() <= search.limit {
            return Ok(found);
        }
        let mut seen = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.id.clone()));
        let is_suspect = |candidate: &Candidate| candidate.wake_at == SUSPECT;
        let others = found.split_off(found.partition_point(is_suspect));
        let last = &self.turns.last;
        found.extend(in_turns(others, last, |candidate| &candidate.caller));
        Ok(found)
    }

    /// The holders without a living process that have tasks on a shelf.
    ///
    /// The index is skipped through from one holder to the next.
    fn abandoned_by(
        &self,
        search: &Search<'_>,
        code: CodeNumber,
        from: Shelf,
    ) -> Result<Vec<HolderId>, Fault> {
        let sql = format!(
            "SELECT holder FROM tasks WHERE code = ?1 AND holder > ?2 AND {} \
             ORDER BY holder LIMIT 1",
            from.condition()
        );
        let mut next = self.connection.prepare_cached(&sql)?;
        let mut last = -1;
        let mut holders = Vec::new();
        while let Some(holder) = next.query_row([code, last], |row| row.get(0)).optional()? {
            last = holder;
            if !search.living.contains(&HolderId(holder)) {
                holders.push(HolderId(holder));
            }
        }
        Ok(holders)
    }

    /// Finds tasks that a living holder has no part in, and that this one has
    /// not tried.
    fn on_shelf(
        &self,
        search: &Search<'_>,
        code: CodeNumber,
        from: Shelf,
        found: &mut Vec<Candidate>,
    ) -> Result<(), Fault> {
        for holder in self.abandoned_by(search, code, from)? {
            for untried in from.untried() {
                let sql = format!(
                    "SELECT id, 0, caller FROM tasks WHERE code = ?1 AND holder = ?2 AND {} \
                     AND {untried} LIMIT ?3",
                    from.condition()
                );
                let mut statement = self.connection.prepare_cached(&sql)?;
                let me: &dyn ToSql = match from {
                    Shelf::Poisonous => &&*search.me.build,
                    _ => &search.me.id.0,
                };
                let mut rows = statement.query(params![code, holder.0, search.rows(), me])?;
                // A suspect comes first: what it does should not be laid at the
                // door of others.
                let wake_at = match from {
                    Shelf::Distrusted => SUSPECT,
                    _ => ARRIVED,
                };
                while let Some(row) = rows.next()? {
                    let task = Candidate::read(row)?;
                    found.push(Candidate { wake_at, ..task });
                }
            }
        }
        Ok(())
    }

    fn woken(
        &mut self,
        search: &Search<'_>,
        code: CodeNumber,
        found: &mut Vec<Candidate>,
        work: &mut Work,
    ) -> Result<(), Fault> {
        for holder in self.abandoned_by(search, code, Shelf::ToWake)? {
            if self.oldest(search, code, holder, found, work)? {
                self.search_backlog(search, code, holder, found)?;
            }
        }
        Ok(())
    }

    /// Finds the tasks whose need is the oldest; true if there are more than a
    /// claim takes.
    fn oldest(
        &self,
        search: &Search<'_>,
        code: CodeNumber,
        holder: HolderId,
        found: &mut Vec<Candidate>,
        work: &mut Work,
    ) -> Result<bool, Fault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, wake_at, caller FROM tasks WHERE code = ?1 AND holder = ?2
             AND wake_at < 9223372036854775807 ORDER BY wake_at LIMIT ?3",
        )?;
        let mut rows = statement.query([code, holder.0, search.rows()])?;
        let mut due = 0;
        while let Some(row) = rows.next()? {
            let task = Candidate::read(row)?;
            if task.wake_at > stored(search.now) {
                work.next = earlier(work.next, Some(time(task.wake_at)));
                return Ok(false);
            }
            due += 1;
            found.push(task);
        }
        Ok(due > search.limit)
    }

    /// Whether a living holder runs a task that may bring processes down.
    fn runs_a_suspect(&self, search: &Search<'_>) -> Result<bool, Fault> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT holder FROM tasks WHERE distrust > 0 AND distrust = 2")?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            if search.living.contains(&HolderId(row.get(0)?)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this holder runs any task.
    fn runs_any(&self, search: &Search<'_>) -> Result<bool, Fault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM tasks WHERE code = ?1 AND holder = ?2 AND wake_at = -1
                 AND wake_at < 9223372036854775807)
             OR EXISTS (SELECT 1 FROM tasks WHERE code = ?1 AND holder = ?2 AND distrust > 0)",
        )?;
        for code in &search.codes {
            if statement.query_row([*code, search.me.id.0], |row| row.get(0))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Search<'_> {
    /// How many rows to read of each kind: one more than can be claimed, to see
    /// when the next is due.
    fn rows(&self) -> i64 {
        i64::try_from(self.limit).map_or(i64::MAX, |limit| limit.saturating_add(1))
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
