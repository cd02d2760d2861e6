//! The raw figure of PostgreSQL: what the same server does when nothing but the
//! writing is left of a commit.
//!
//! As many connections as our own store has, prepared statements, and for each of
//! our commits one statement that inserts a journal entry and writes a task row,
//! with the columns that ours have and values of the same sizes, but no index
//! besides the primary keys. Nothing is checked, looked up, read or put into words.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::life::Written;
use crate::server::Server;
use crate::throughput::rate;

/// As many as a store has unless it is told otherwise.
const CONNECTIONS: usize = 10;

/// As long as the texts and numbers of our rows.
const ID: &str = "2345678abcdefghijkmnpqrstuvwxyz234";
const NOW: i64 = 1_800_000_000_000;

pub(crate) struct RawPostgres {
    pool: Pool,
    next: Arc<AtomicI64>,
    first: Arc<str>,
    later: Arc<str>,
    schema: String,
}

impl RawPostgres {
    pub(crate) async fn open(server: &Server, schema: &str) -> Self {
        let made = server
            .connect()
            .await
            .batch_execute(&format!(
                "CREATE SCHEMA {schema};
                 CREATE TABLE {schema}.tasks (
                     task BIGINT PRIMARY KEY, id TEXT NOT NULL, code INTEGER NOT NULL,
                     caller TEXT NOT NULL, revision BIGINT NOT NULL, holder BIGINT NOT NULL,
                     fencing BIGINT NOT NULL, seq BIGINT NOT NULL, status BIGINT NOT NULL,
                     running BOOLEAN NOT NULL, unseen SMALLINT NOT NULL,
                     recover BOOLEAN NOT NULL, distrust SMALLINT NOT NULL,
                     held SMALLINT NOT NULL, held_first BIGINT NOT NULL,
                     held_last BIGINT NOT NULL, held_build TEXT NOT NULL,
                     timer_at BIGINT NOT NULL, wake_at BIGINT NOT NULL,
                     ended BOOLEAN NOT NULL, state SMALLINT NOT NULL,
                     updated_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
                     due_at BIGINT NOT NULL, snapshot TEXT NOT NULL) WITH (fillfactor = 70);
                 CREATE TABLE {schema}.journal (
                     task BIGINT NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL,
                     format SMALLINT NOT NULL, event TEXT NOT NULL, PRIMARY KEY (task, seq))"
            ))
            .await;
        made.expect("the database takes tables");
        let config: Result<tokio_postgres::Config, _> = server.tasks().url().parse();
        let mut config = config.expect("it has been connected to");
        // As ours: plans are kept while tables grow from nothing.
        config.options("-c enable_seqscan=off");
        let how = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let pool = Pool::builder(Manager::from_config(config, NoTls, how));
        let entry = format!("INSERT INTO {schema}.journal VALUES ($1, $3, $4, 1, $5)");
        Self {
            pool: pool.max_size(CONNECTIONS).build().expect("it has a size"),
            next: Arc::new(AtomicI64::new(1)),
            first: format!(
                "WITH begun AS (
                     INSERT INTO {schema}.tasks VALUES ($1, '{ID}', 1, 'anonymous', 1, 1, 1, $3, 0,
                         TRUE, 0, FALSE, 0, 0, 0, 0, '', $4, $4, FALSE, 0, $4, $4, $4, $2)
                 ) {entry}"
            )
            .into(),
            later: format!(
                "WITH put AS (
                     UPDATE {schema}.tasks SET revision = $3, seq = $3, updated_at = $4,
                         snapshot = $2
                     WHERE task = $1
                 ) {entry}"
            )
            .into(),
            schema: schema.to_owned(),
        }
    }

    /// So many callers write lives of tasks for as long as given; gives the commits
    /// per second.
    pub(crate) async fn called(&mut self, life: &[Written], callers: usize, time: Duration) -> f64 {
        let life: Arc<[(String, String)]> = life
            .iter()
            .map(|written| (written.snapshot.clone(), written.event.clone()))
            .collect();
        let begun = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..callers {
            let (pool, next, life) = (self.pool.clone(), self.next.clone(), life.clone());
            let (first, later) = (self.first.clone(), self.later.clone());
            tasks.spawn(async move {
                let mut commits = 0;
                while begun.elapsed() < time {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    for (nth, (snapshot, event)) in (0_i64..).zip(&*life) {
                        let client = pool.get().await.expect("the database is there");
                        let sql = if nth == 0 { &first } else { &later };
                        let statement = client.prepare_cached(sql).await;
                        let statement = statement.expect("the tables are there");
                        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
                            [&task, snapshot, &nth, &NOW, event];
                        let written = client.execute(&statement, &values).await;
                        written.expect("the database takes rows");
                        commits += 1;
                    }
                }
                commits
            });
        }
        let commits: u64 = tasks.join_all().await.iter().sum();
        let rate = rate(commits, begun.elapsed());
        // Ours removes journals when tasks end; here they are in nobody's way.
        let client = self.pool.get().await.expect("the database is there");
        let empty = format!("TRUNCATE {}.journal", self.schema);
        let emptied = client.batch_execute(&empty).await;
        emptied.expect("the database takes that");
        rate
    }
}
