//! More tasks to wake than one claim takes: then callers have their turns, so
//! that the one task of one does not wait for the hundred thousand of another.
//!
//! The callers are found by index, from one to the next, and of each its oldest
//! tasks.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, params};

use super::claims::{Candidate, Search};
use super::holders::HolderId;
use super::ledger::Ledger;
use super::row::{CodeNumber, stored};
use super::trouble::Fault;

/// Tasks that are found in one index, in the order of callers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Their functions ran.
    Running,
    /// Something has arrived for them.
    Arrived,
    /// They have timers, not all of which are due.
    Timers,
}

/// Whose turn it is.
#[derive(Default)]
pub(super) struct Turns {
    /// The caller of the task that was claimed last.
    pub(super) last: String,
    /// Where the search for due timers goes on, if it has not come to an end.
    timers: HashMap<(CodeNumber, HolderId), String>,
}

impl Group {
    const ALL: [Self; 3] = [Self::Running, Self::Arrived, Self::Timers];

    /// With the condition of the partial index, word for word.
    const fn condition(self) -> &'static str {
        match self {
            Self::Running => "wake_at = -1 AND wake_at < 9223372036854775807",
            Self::Arrived => "wake_at = 0 AND wake_at < 9223372036854775807",
            Self::Timers => "wake_at > 0 AND wake_at < 9223372036854775807",
        }
    }
}

impl Ledger {
    /// Finds tasks of the callers whose turn it is, for as many claims as are
    /// wanted if those have as many.
    pub(super) fn search_backlog(
        &mut self,
        search: &Search<'_>,
        code: CodeNumber,
        holder: HolderId,
        found: &mut Vec<Candidate>,
    ) -> Result<(), Fault> {
        for group in Group::ALL {
            let callers = self.next_callers(search, code, holder, group)?;
            let share = search.limit.div_ceil(callers.len().max(1));
            let sql = format!(
                "SELECT id, wake_at, caller FROM tasks
                 WHERE code = ?1 AND holder = ?2 AND caller = ?3 AND {} AND wake_at <= ?4
                 ORDER BY wake_at LIMIT ?5",
                group.condition()
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            for caller in callers {
                let mut rows = statement.query(params![
                    code,
                    holder.0,
                    caller,
                    stored(search.now),
                    i64::try_from(share).unwrap_or(i64::MAX)
                ])?;
                while let Some(row) = rows.next()? {
                    found.push(Candidate::read(row)?);
                }
            }
        }
        Ok(())
    }

    /// The callers whose turn it is, after the last.
    fn next_callers(
        &mut self,
        search: &Search<'_>,
        code: CodeNumber,
        holder: HolderId,
        group: Group,
    ) -> Result<Vec<String>, Fault> {
        let sql = format!(
            "SELECT caller, wake_at FROM tasks
             WHERE code = ?1 AND holder = ?2 AND caller >= ?3 AND {}
             ORDER BY caller, wake_at LIMIT 1",
            group.condition()
        );
        let mut next = self.connection.prepare_cached(&sql)?;
        let goes_on = match group {
            Group::Timers => self.turns.timers.remove(&(code, holder)),
            Group::Running | Group::Arrived => None,
        };
        let began = goes_on.unwrap_or_else(|| after(&self.turns.last));
        let (mut from, mut is_second_round) = (began.clone(), false);
        let mut callers = Vec::new();
        for _ in 0..search.limit.saturating_mul(2) {
            if callers.len() >= search.limit {
                return Ok(callers);
            }
            let row: Option<(String, i64)> = next
                .query_row(params![code, holder.0, from], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?;
            match row {
                Some((caller, wake_at)) if !is_second_round || caller < began => {
                    from = after(&caller);
                    if wake_at <= stored(search.now) {
                        callers.push(caller);
                    }
                }
                None if !is_second_round => {
                    is_second_round = true;
                    from.clear();
                }
                _ => return Ok(callers),
            }
        }
        // Callers whose timers are not due were passed by: enough for now.
        self.turns.timers.insert((code, holder), from);
        Ok(callers)
    }
}

/// The first text that comes after this one.
fn after(text: &str) -> String {
    format!("{text}\0")
}
