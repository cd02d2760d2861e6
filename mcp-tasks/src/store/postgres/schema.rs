//! The tables, and how a database gets them.
//!
//! Columns by which rows are looked for are never null: an index answers
//! `wake_at <= ?` at once, and does not answer `wake_at IS NULL OR ..`. What
//! will not come by itself stands at [`NEVER`], outside of the partial indexes.

use tokio_postgres::{Client, Transaction};

use super::query::{Name, Query};
use super::trouble::in_words;

/// The time of what waits for something other than the clock.
pub(super) const NEVER: i64 = i64::MAX;

/// Where a task stands in the order of waking that must be recovered, and may be
/// what brings processes down.
pub(super) const SUSPECT: i64 = -2;

/// Where a task stands whose function is running.
pub(super) const RUNNING: i64 = -1;

/// Where a task stands for which something has arrived.
pub(super) const ARRIVED: i64 = 0;

/// Over how many rows the totals are spread.
pub(super) const SLOTS: u64 = 32;

/// The time by the database's clock, the same throughout a statement.
macro_rules! now {
    () => {
        "((extract(epoch FROM statement_timestamp()) * 1000)::int8)"
    };
}
pub(super) use now;

/// Each step takes the tables one version further. Released steps never change.
const STEPS: [&str; 1] = [include_str!("schema/1.sql")];

/// Brings the tables up to date.
///
/// Several servers may do this at once: one does it, the others wait. Tables of a
/// newer version are left alone.
pub(super) async fn migrate(client: &mut Client, name: &Name) -> Result<(), String> {
    let told = |error: tokio_postgres::Error| in_words(&error);
    // Most often there is nothing to do, and a role that may do nothing else
    // suffices.
    if version(client, name).await? == Some(STEPS.len()) {
        return Ok(());
    }
    let mut transaction = client.transaction().await.map_err(told)?;
    let lock = format!("mcp-tasks schema {}", name.as_str());
    transaction
        .query_typed(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
            &[(&lock, tokio_postgres::types::Type::TEXT)],
        )
        .await
        .map_err(told)?;
    migrate_alone(&mut transaction, name).await?;
    transaction.commit().await.map_err(told)
}

async fn migrate_alone(transaction: &mut Transaction<'_>, name: &Name) -> Result<(), String> {
    let told = |error: tokio_postgres::Error| in_words(&error);
    let begin = name.fill(
        "CREATE SCHEMA IF NOT EXISTS @;
         CREATE TABLE IF NOT EXISTS @schema_version (version INTEGER NOT NULL);
         INSERT INTO @schema_version
             SELECT 0 WHERE NOT EXISTS (SELECT FROM @schema_version)",
    );
    transaction.batch_execute(&begin).await.map_err(told)?;
    let version = version_in(transaction, name).await?;
    for step in &STEPS[version..] {
        transaction
            .batch_execute(&name.fill(step))
            .await
            .map_err(told)?;
    }
    let done = name.fill("UPDATE @schema_version SET version = $1::int4");
    let steps = i32::try_from(STEPS.len()).map_err(|error| error.to_string())?;
    transaction
        .query_typed(&done, &[(&steps, tokio_postgres::types::Type::INT4)])
        .await
        .map(drop)
        .map_err(told)
}

/// The version of the tables; none if there are none.
async fn version(client: &Client, name: &Name) -> Result<Option<usize>, String> {
    let exists = Query::new(name, "SELECT to_regclass($1::text) IS NOT NULL");
    let table = name.fill("@schema_version");
    let found = exists.run_on(client, &[&table]).await;
    let found = found.map_err(|error| in_words(&error))?;
    if !found.first().is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    version_in(client, name).await.map(Some)
}

async fn version_in(
    client: &impl tokio_postgres::GenericClient,
    name: &Name,
) -> Result<usize, String> {
    let sql = name.fill("SELECT version FROM @schema_version");
    let rows = client.query_typed(&sql, &[]).await;
    let rows = rows.map_err(|error| in_words(&error))?;
    let version: i32 = rows.first().map_or(0, |row| row.get(0));
    let version = usize::try_from(version).unwrap_or(usize::MAX);
    if version > STEPS.len() {
        return Err(format!(
            "its tables, in the schema `{}`, are those of a newer version of mcp-tasks \
             (version {version} of the schema; this program knows {}): start a program that was \
             built with that version, or give this one a schema of its own",
            name.as_str(),
            STEPS.len()
        ));
    }
    Ok(version)
}
