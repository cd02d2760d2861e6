//! The replicas share a PostgreSQL database, of a server that nobody else uses.
//!
//! Each replica's connections carry its name, so that the trail tells who wrote
//! what.

use mcp_tasks::PostgresStore;
use mcp_tasks_tests::Launch;
use mcp_tasks_tests::postgres::{Cluster, Database};
use tempfile::TempDir;
use tokio_postgres::Row;

use crate::log::Log;
use crate::trail::{Line, RawLine};

use super::Census;

/// Writes down what is written, in the same transaction.
const TRAIL: &str = "
CREATE SCHEMA chaos;

CREATE TABLE chaos.trail (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8,
    writer TEXT NOT NULL DEFAULT current_setting('application_name'),
    kind TEXT NOT NULL,
    id TEXT,
    seq BIGINT,
    fencing BIGINT,
    holder BIGINT,
    ended BOOLEAN,
    body TEXT,
    fencing_before BIGINT,
    holder_before BIGINT,
    lease_left BIGINT,
    label TEXT
);
CREATE INDEX ON chaos.trail (label) WHERE label IS NOT NULL;

CREATE FUNCTION chaos.lease_left(until BIGINT) RETURNS BIGINT LANGUAGE sql AS $$
    SELECT until - floor(extract(epoch FROM clock_timestamp()) * 1000)::int8
$$;

CREATE FUNCTION chaos.entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.trail (kind, id, seq, fencing, holder, body, label)
    SELECT 'entry', id, new.seq, fencing, holder, new.event,
        new.event::json #>> '{created,arguments,label}'
    FROM mcp_tasks.tasks WHERE task = new.task;
    RETURN NULL;
END $$;
CREATE TRIGGER chaos AFTER INSERT ON mcp_tasks.journal
    FOR EACH ROW EXECUTE FUNCTION chaos.entry();

CREATE FUNCTION chaos.begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.trail (kind, id, seq, fencing, holder, ended)
    VALUES ('row', new.id, new.seq, new.fencing, new.holder, new.ended);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_begun AFTER INSERT ON mcp_tasks.tasks
    FOR EACH ROW EXECUTE FUNCTION chaos.begun();

CREATE FUNCTION chaos.changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.trail (kind, id, seq, fencing, holder, ended, body,
        fencing_before, holder_before, lease_left)
    VALUES ('row', new.id, new.seq, new.fencing, new.holder, new.ended,
        CASE WHEN new.ended THEN (new.snapshot::json -> 'outcome')::text END,
        old.fencing, old.holder,
        (SELECT chaos.lease_left(lease_until) FROM mcp_tasks.holders
         WHERE holder = old.holder));
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_changed AFTER UPDATE ON mcp_tasks.tasks
    FOR EACH ROW EXECUTE FUNCTION chaos.changed();

CREATE FUNCTION chaos.deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.trail (kind, id) VALUES ('deleted', old.id);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_deleted AFTER DELETE ON mcp_tasks.tasks
    FOR EACH ROW EXECUTE FUNCTION chaos.deleted();

CREATE FUNCTION chaos.enlisted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.trail (kind, holder) VALUES ('holder', new.holder);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_enlisted AFTER INSERT ON mcp_tasks.holders
    FOR EACH ROW EXECUTE FUNCTION chaos.enlisted();

CREATE FUNCTION chaos.gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.trail (kind, holder, lease_left)
    VALUES ('gone', old.holder, chaos.lease_left(old.lease_until));
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_gone AFTER DELETE ON mcp_tasks.holders
    FOR EACH ROW EXECUTE FUNCTION chaos.gone();
";

/// A database that replicas share.
pub(crate) struct Postgres {
    pub(crate) cluster: Cluster,
    database: Database,
    folder: TempDir,
}

impl Postgres {
    pub(crate) async fn new() -> Self {
        let cluster = Cluster::start_new().await;
        let database = cluster.database().await;
        // It makes the tables.
        let store = PostgresStore::connect(database.url()).await;
        drop(store.expect("a new database"));
        let made = database.connect().await.batch_execute(TRAIL).await;
        made.expect("a store has these tables");
        Self {
            cluster,
            database,
            folder: TempDir::new().expect("a directory for temporary files"),
        }
    }

    pub(super) fn store(&self, launch: Launch, name: &str) -> Launch {
        let url = format!("postgres:{}?application_name={name}", self.database.url());
        launch.flags(&["--store", &url])
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    async fn connect(&self) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
        mcp_tasks_tests::postgres::connect(self.database.url()).await
    }

    /// The task that a call has made, if it has.
    pub(super) async fn called(
        &self,
        label: &str,
    ) -> Result<Option<String>, tokio_postgres::Error> {
        let found = self
            .connect()
            .await?
            .query_opt("SELECT id FROM chaos.trail WHERE label = $1", &[&label])
            .await?;
        Ok(found.map(|row| row.get(0)))
    }

    /// Ends the connections of a replica, or one of them.
    pub(crate) async fn cut(&self, name: &str, all: bool) -> Result<i64, tokio_postgres::Error> {
        let limit = if all { i64::MAX } else { 1 };
        let cut = self
            .connect()
            .await?
            .query_one(
                "SELECT count(pg_terminate_backend(pid)) FROM (
                     SELECT pid FROM pg_stat_activity WHERE application_name = $1
                     ORDER BY random() LIMIT $2
                 ) AS these",
                &[&name, &limit],
            )
            .await?;
        Ok(cut.get(0))
    }

    pub(super) async fn trail(&self, log: &Log) -> Result<Vec<Line>, tokio_postgres::Error> {
        let lines = self
            .connect()
            .await?
            .query(
                "SELECT number, at, kind, id, seq, fencing, holder, ended, body, fencing_before,
                     holder_before, lease_left, writer
                 FROM chaos.trail ORDER BY number",
                &[],
            )
            .await?;
        Ok(lines.iter().map(|row| line(row, log)).collect())
    }

    pub(super) async fn row(&self, id: &str) -> Result<String, tokio_postgres::Error> {
        let found = self
            .connect()
            .await?
            .query_opt(
                "SELECT row_to_json(t)::text FROM mcp_tasks.tasks t WHERE id = $1",
                &[&id],
            )
            .await?;
        Ok(found.map_or_else(|| "none".to_owned(), |row| row.get(0)))
    }

    pub(super) async fn census(&self, log: &Log) -> Result<Census, tokio_postgres::Error> {
        let client = self.connect().await?;
        let counts = client
            .query_one(
                "SELECT (SELECT count(*) FROM mcp_tasks.tasks WHERE NOT ended),
                     (SELECT sum(live)::int8 FROM mcp_tasks.totals),
                     (SELECT coalesce(sum(live), 0)::int8 FROM mcp_tasks.callers),
                     (SELECT sum(stored)::int8 FROM mcp_tasks.totals),
                     (SELECT count(*) FROM mcp_tasks.tasks),
                     (SELECT count(*) FROM mcp_tasks.journal)",
                &[],
            )
            .await?;
        let holders = client
            .query(
                "SELECT writer FROM mcp_tasks.holders JOIN chaos.trail USING (holder)
                 WHERE kind = 'holder'",
                &[],
            )
            .await?;
        let mut holders: Vec<u32> = holders.iter().map(|row| log.process(row.get(0))).collect();
        holders.sort_unstable();
        Ok(Census {
            unfinished: counts.get(0),
            live: counts.get(1),
            of_callers: counts.get(2),
            stored: counts.get(3),
            tasks: counts.get(4),
            entries: counts.get(5),
            holders,
        })
    }
}

fn line(row: &Row, log: &Log) -> Line {
    let writer: String = row.get(12);
    Line::from(RawLine {
        number: row.get(0),
        at_ms: row.get(1),
        kind: row.get(2),
        id: row.get(3),
        seq: row.get(4),
        fencing: row.get(5),
        holder: row.get(6),
        ended: row.get(7),
        body: row.get(8),
        fencing_before: row.get(9),
        holder_before: row.get(10),
        lease_left: row.get(11),
        process: Some(log.process(&writer)),
        writer: Some(writer),
    })
}
