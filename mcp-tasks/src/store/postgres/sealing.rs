//! What is kept for calls whose state travels through their clients.

use tokio_postgres::Row as SqlRow;
use tokio_postgres::types::ToSql;

use super::ledger::Ledger;
use super::query::Query;
use super::trouble::Trouble;
use crate::store::StoreError;
use crate::store::columns::{damaged, stored, time};
use crate::task::{KeyRing, SealingKey, StateId, TaskId, Timestamp};

pub(super) struct Queries {
    keys: Query,
    lock: Query,
    forget_keys: Query,
    add_key: Query,
    spend: Query,
}

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            keys: query("SELECT id, secret, made_at FROM @sealing_keys"),
            lock: query("SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"),
            forget_keys: query("DELETE FROM @sealing_keys WHERE id <> ALL ($1::bytea[])"),
            add_key: query(
                "INSERT INTO @sealing_keys (id, secret, made_at)
                 VALUES ($1::bytea, $2::bytea, $3::int8) ON CONFLICT DO NOTHING",
            ),
            // Some of what is too old is forgotten on the way.
            spend: query(
                "WITH old AS (
                    DELETE FROM @spent_states WHERE (run, round) IN (
                        SELECT run, round FROM @spent_states WHERE until < $4::int8
                        LIMIT 8 FOR UPDATE SKIP LOCKED
                    )
                 )
                 INSERT INTO @spent_states (run, round, until)
                 VALUES ($1::text, $2::int8, $3::int8) ON CONFLICT DO NOTHING RETURNING 1",
            ),
        }
    }
}

impl Ledger {
    pub(super) async fn sealing_keys(
        &self,
        fresh: SealingKey,
        now: Timestamp,
    ) -> Result<KeyRing, StoreError> {
        let rows = self
            .connections
            .read(&self.queries.sealing.keys, &[])
            .await?;
        let keys = read(&rows)?;
        if !keys.needs_a_key(now) {
            return Ok(keys);
        }
        match self.renew_keys(fresh, now).await {
            Ok(keys) => Ok(keys),
            Err(Trouble::Again) => Err(super::connections::busy()),
            Err(Trouble::Refused(error)) => Err(error),
        }
    }

    /// Puts a new key there, unless another replica has just done so.
    async fn renew_keys(&self, fresh: SealingKey, now: Timestamp) -> Result<KeyRing, Trouble> {
        let queries = &self.queries.sealing;
        let mut transaction = self.connections.begin().await?;
        let lock = format!("mcp-tasks keys {}", self.name.as_str());
        transaction.run(&queries.lock, &[&lock]).await?;
        let mut keys = read(&transaction.run(&queries.keys, &[]).await?)?;
        if keys.renew(fresh, now) {
            let left: Vec<&[u8]> = keys.keys().iter().map(|key| &key.id[..]).collect();
            transaction.run(&queries.forget_keys, &[&left]).await?;
            if let Some(key) = keys.newest() {
                let made_at = stored(key.made_at);
                let values: [&(dyn ToSql + Sync); 3] = [&&key.id[..], &&key.secret[..], &made_at];
                transaction.run(&queries.add_key, &values).await?;
            }
        }
        transaction.commit().await?;
        Ok(keys)
    }

    pub(super) async fn spend(
        &self,
        state: &StateId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let round = i64::from(state.round);
        let rows = self
            .connections
            .write(
                &self.queries.sealing.spend,
                &[&state.run.as_str(), &round, &stored(until), &stored(now)],
            )
            .await?;
        Ok(!rows.is_empty())
    }
}

fn read(rows: &[SqlRow]) -> Result<KeyRing, StoreError> {
    let key = |row: &SqlRow| {
        Some(SealingKey {
            id: row.get::<_, &[u8]>(0).try_into().ok()?,
            secret: row.get::<_, &[u8]>(1).try_into().ok()?,
            made_at: time(row.get(2)),
        })
    };
    let keys: Option<Vec<SealingKey>> = rows.iter().map(key).collect();
    keys.map(KeyRing::new).ok_or_else(|| {
        let nobody = TaskId::from_text("-");
        damaged(&nobody, "a sealing key has a wrong length".to_owned())
    })
}
