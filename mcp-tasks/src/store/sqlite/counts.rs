//! How many tasks there are, without counting them.
//!
//! The numbers are read when a transaction first asks for them, changed in
//! memory, and written once at its end.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::trouble::Fault;
use crate::store::LiveLimits;
use crate::task::Caller;

/// The counts as one transaction sees them.
#[derive(Default)]
pub(super) struct Counts {
    totals: Option<Totals>,
    /// The live tasks of authenticated callers.
    callers: HashMap<Caller, i64>,
}

#[derive(Clone, Copy)]
pub(super) struct Totals {
    pub(super) live: i64,
    pub(super) stored: i64,
}

impl Totals {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        connection
            .prepare_cached("SELECT live, stored FROM totals")?
            .query_row((), |row| {
                Ok(Self {
                    live: row.get(0)?,
                    stored: row.get(1)?,
                })
            })
    }
}

impl Counts {
    /// Refuses one more task of this caller, if a limit is reached.
    pub(super) fn check(
        &mut self,
        connection: &Connection,
        caller: &Caller,
        limits: LiveLimits,
    ) -> Result<(), Fault> {
        limits.check_total(as_count(self.totals(connection)?.live))?;
        if !caller.is_anonymous() {
            limits.check_caller(as_count(*self.of(connection, caller)?))?;
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, connection: &Connection, caller: &Caller) -> Result<(), Fault> {
        self.totals(connection)?.stored += 1;
        self.live(connection, caller, 1)
    }

    pub(super) fn end(&mut self, connection: &Connection, caller: &Caller) -> Result<(), Fault> {
        self.live(connection, caller, -1)
    }

    pub(super) fn delete(&mut self, connection: &Connection) -> Result<(), Fault> {
        self.totals(connection)?.stored -= 1;
        Ok(())
    }

    fn live(&mut self, connection: &Connection, caller: &Caller, by: i64) -> Result<(), Fault> {
        self.totals(connection)?.live += by;
        if !caller.is_anonymous() {
            *self.of(connection, caller)? += by;
        }
        Ok(())
    }

    fn totals(&mut self, connection: &Connection) -> Result<&mut Totals, Fault> {
        match &mut self.totals {
            Some(totals) => Ok(totals),
            unread => Ok(unread.insert(Totals::read(connection)?)),
        }
    }

    fn of(&mut self, connection: &Connection, caller: &Caller) -> Result<&mut i64, Fault> {
        if !self.callers.contains_key(caller) {
            let live: Option<i64> = connection
                .prepare_cached("SELECT live FROM callers WHERE caller = ?1")?
                .query_row([caller.as_str()], |row| row.get(0))
                .optional()?;
            self.callers.insert(caller.clone(), live.unwrap_or(0));
        }
        Ok(self.callers.entry(caller.clone()).or_default())
    }

    /// Writes the numbers at the end of a transaction and forgets them.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if let Some(totals) = self.totals.take() {
            connection
                .prepare_cached(
                    "UPDATE totals SET live = ?1, stored = ?2 WHERE live <> ?1 OR stored <> ?2",
                )?
                .execute([totals.live, totals.stored])?;
        }
        for (caller, live) in self.callers.drain() {
            let caller = caller.as_str();
            if live > 0 {
                connection
                    .prepare_cached(
                        "INSERT INTO callers VALUES (?1, ?2)
                         ON CONFLICT DO UPDATE SET live = ?2 WHERE live <> ?2",
                    )?
                    .execute(params![caller, live])?;
            } else {
                connection
                    .prepare_cached("DELETE FROM callers WHERE caller = ?1")?
                    .execute([caller])?;
            }
        }
        Ok(())
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn as_count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}
