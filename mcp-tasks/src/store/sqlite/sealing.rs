//! What is kept for calls whose state travels through their clients.

use rusqlite::params;

use super::ledger::Ledger;
use super::row::{stored, time};
use super::trouble::Fault;
use crate::task::{KeyRing, SealingKey, StateId, Timestamp};

/// How many spent states are forgotten for each that is spent.
const FORGOTTEN_AT_ONCE: u32 = 8;

impl Ledger {
    pub(super) fn sealing_keys(
        &mut self,
        fresh: SealingKey,
        now: Timestamp,
    ) -> Result<KeyRing, Fault> {
        let mut keys = self
            .connection
            .prepare_cached("SELECT id, secret, made_at FROM sealing_keys")?
            .query_map((), |row| {
                Ok(SealingKey {
                    id: row.get(0)?,
                    secret: row.get(1)?,
                    made_at: time(row.get(2)?),
                })
            })?
            .collect::<Result<_, _>>()
            .map(KeyRing::new)?;
        let known = keys.keys().len();
        if keys.renew(fresh, now) || keys.keys().len() < known {
            self.write().execute("DELETE FROM sealing_keys", ())?;
            for key in keys.keys() {
                self.write()
                    .prepare_cached("INSERT INTO sealing_keys VALUES (?1, ?2, ?3)")?
                    .execute(params![key.id, key.secret, stored(key.made_at)])?;
            }
        }
        Ok(keys)
    }

    pub(super) fn spend(
        &mut self,
        state: &StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        self.write()
            .prepare_cached(
                "DELETE FROM spent_states WHERE (run, round) IN
                 (SELECT run, round FROM spent_states WHERE until < ?1 LIMIT ?2)",
            )?
            .execute(params![stored(now), FORGOTTEN_AT_ONCE])?;
        let spent = self
            .write()
            .prepare_cached("INSERT OR IGNORE INTO spent_states VALUES (?1, ?2, ?3)")?
            .execute(params![state.run.as_str(), state.round, stored(until)])?;
        Ok(spent == 1)
    }
}
