//! Who runs functions of which only so many may run at once, and who waits to.

use rusqlite::params;

use super::holders::{HolderId, Me};
use super::ledger::Ledger;
use super::row::stored;
use super::trouble::Fault;
use crate::store::{RunNumber, Seated, SeatsWanted, WAITS_MS, WaitingHolder};
use crate::task::Timestamp;

/// A [`SeatsWanted`] on its way to the writer.
pub(super) struct OwnedWanted {
    run: RunNumber,
    lanes: Vec<OwnedLane>,
}

struct OwnedLane {
    /// As in the schema.
    kind: i32,
    name: String,
    seats: usize,
}

/// How long it stays unwritten that a holder which waits has asked again: every
/// write wakes the others.
const REFRESH_MS: u64 = WAITS_MS / 2;

/// Stands in the place of a run where a holder waits.
const WAITING: i64 = 0;

/// A run as it is kept.
fn numbered(run: RunNumber) -> i64 {
    run.0.cast_signed().wrapping_add(1)
}

impl From<&SeatsWanted<'_>> for OwnedWanted {
    fn from(wanted: &SeatsWanted<'_>) -> Self {
        let lanes = wanted.lanes.iter().map(|(lane, seats)| {
            let (kind, name) = lane.kept();
            OwnedLane {
                kind,
                name: name.to_owned(),
                seats: *seats,
            }
        });
        Self {
            run: wanted.run,
            lanes: lanes.collect(),
        }
    }
}

impl Ledger {
    /// Takes a seat in each lane that a run counts towards, or in none.
    pub(super) fn take_seats(
        &mut self,
        wanted: &OwnedWanted,
        now: Timestamp,
    ) -> Result<Seated, Fault> {
        let me = self.me()?;
        if !self.is_alive(me.id, now)? {
            return Ok(Seated::Full(0));
        }
        let run = numbered(wanted.run);
        let has_seats: bool = self
            .connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM seats WHERE holder = ?1 AND run = ?2)")?
            .query_row([me.id.0, run], |row| row.get(0))?;
        if has_seats {
            return Ok(Seated::Yes);
        }
        for (at, lane) in wanted.lanes.iter().enumerate() {
            if !self.has_room(&me, lane, now)? {
                return Ok(Seated::Full(at));
            }
        }
        for lane in &wanted.lanes {
            self.write()
                .prepare_cached("INSERT OR FAIL INTO seats VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0)")?
                .execute(params![
                    &*me.server,
                    &*me.scope,
                    lane.kind,
                    &lane.name,
                    me.id.0,
                    run
                ])?;
        }
        Ok(Seated::Yes)
    }

    /// Whether there is a seat for this holder; if not, it waits for one.
    fn has_room(&mut self, me: &Me, lane: &OwnedLane, now: Timestamp) -> Result<bool, Fault> {
        let mut taken = 0;
        let mut mine: Option<WaitingHolder> = None;
        let mut others = Vec::new();
        {
            let mut statement = self.connection.prepare_cached(
                "SELECT holder, run, since, asked FROM seats
                 WHERE server = ?1 AND scope = ?2 AND kind = ?3 AND name = ?4
                 AND holder IN (SELECT holder FROM holders WHERE lease_until >= ?5)",
            )?;
            let name = params![&*me.server, &*me.scope, lane.kind, &lane.name, stored(now)];
            let mut rows = statement.query(name)?;
            while let Some(row) = rows.next()? {
                if row.get::<_, i64>(1)? != WAITING {
                    taken += 1;
                    continue;
                }
                let waiting = WaitingHolder {
                    since: row.get::<_, i64>(2)?.cast_unsigned(),
                    asked: row.get::<_, i64>(3)?.cast_unsigned(),
                };
                if HolderId(row.get(0)?) == me.id {
                    mine = Some(waiting);
                } else {
                    others.push(waiting);
                }
            }
        }
        let at = now.as_millis();
        let since = mine.map(|mine| mine.since);
        let first = |other: &&WaitingHolder| other.goes_before(since, at);
        let is_free = taken + others.iter().filter(first).count() < lane.seats;
        let (server, scope) = (&*me.server, &*me.scope);
        let (kind, name) = (lane.kind, &lane.name);
        if is_free && mine.is_some() {
            self.write()
                .prepare_cached(
                    "DELETE FROM seats WHERE server = ?1 AND scope = ?2 AND kind = ?3
                     AND name = ?4 AND holder = ?5 AND run = ?6",
                )?
                .execute(params![server, scope, kind, name, me.id.0, WAITING])?;
        } else if !is_free && mine.is_none_or(|mine| mine.asked + REFRESH_MS <= at) {
            self.write()
                .prepare_cached(
                    "INSERT INTO seats VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                     ON CONFLICT DO UPDATE SET asked = ?7",
                )?
                .execute(params![
                    server,
                    scope,
                    kind,
                    name,
                    me.id.0,
                    WAITING,
                    stored(now)
                ])?;
        }
        Ok(is_free)
    }

    pub(super) fn give_back_seats(&mut self, run: RunNumber) -> Result<(), Fault> {
        let Some(me) = self.me.clone() else {
            return Ok(());
        };
        self.write()
            .prepare_cached("DELETE FROM seats WHERE holder = ?1 AND run = ?2")?
            .execute([me.id.0, numbered(run)])?;
        Ok(())
    }
}
