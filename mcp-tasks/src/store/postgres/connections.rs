//! Connections to the database: a pool for statements, and one that listens.
//!
//! Nearly everything is one statement of its own, sent when all it needs is known:
//! a process that is stopped in the middle of its work keeps no lock that others
//! wait for.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
    TimeoutType,
};
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};

use super::query::Query;
use super::tls::Tls;
use super::trouble::{Trouble, in_words, trouble_with};
use crate::store::StoreError;

/// How long a statement may take, and a connection may take to be had.
const PATIENCE: Duration = Duration::from_secs(10);

/// Patience is counted in so many parts.
const PARTS: u32 = 20;

/// How long a transaction of several statements may stand still before the server
/// ends it: its process has been stopped.
const STANDSTILL: &str = "5s";

/// How often a statement is tried that gets in the way of others.
const ATTEMPTS: usize = 20;

/// After a connection could not be made, none is tried for so long, and for twice as
/// long each time, up to the second.
const REST: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// How the pool is to be made.
pub(super) struct PoolPlan {
    pub(super) size: usize,
    /// Whether sessions last longer than a transaction: not behind a
    /// transaction-mode pooler.
    pub(super) sessions: bool,
}

/// The pool.
pub(super) struct Connections {
    home: Arc<Home>,
    sessions: bool,
}

/// Where connections come from, and how it stands with that.
struct Home {
    pool: Pool,
    rest: Mutex<Rest>,
}

/// The time in which no connection is tried, since one has just failed.
#[derive(Default)]
struct Rest {
    until: Option<Instant>,
    next: Duration,
    why: String,
}

impl Connections {
    pub(super) fn new(config: &Config, tls: Tls, plan: &PoolPlan) -> Result<Self, String> {
        let how = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_config(config.clone(), tls, how);
        let mut builder = Pool::builder(manager)
            .max_size(plan.size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE));
        if plan.sessions {
            // Tables grow from nothing while plans are kept: none of these
            // statements is to be answered by reading a whole table.
            let settle = format!(
                "SET enable_seqscan = off; SET jit = off; \
                 SET idle_in_transaction_session_timeout = '{STANDSTILL}'"
            );
            builder = builder.post_create(Hook::async_fn(move |client, _| {
                let settle = settle.clone();
                Box::pin(async move {
                    let settled = patiently(client.batch_execute(&settle)).await;
                    let settled = settled.map_err(|_| HookError::message(silent()))?;
                    settled.map_err(HookError::Backend)
                })
            }));
        }
        let home = Home {
            pool: builder.build().map_err(|error| error.to_string())?,
            rest: Mutex::default(),
        };
        Ok(Self {
            home: Arc::new(home),
            sessions: plan.sessions,
        })
    }

    /// A connection works again: others may be tried at once.
    pub(super) fn is_back(&self) {
        *self.home.rest() = Rest::default();
    }

    async fn get(&self) -> Result<Lent, StoreError> {
        if let Rest {
            until: Some(until),
            why,
            ..
        } = &*self.home.rest()
            && Instant::now() < *until
        {
            return Err(StoreError::Unavailable(why.clone()));
        }
        let error = match self.home.pool.get().await {
            Ok(client) => {
                return Ok(Lent {
                    client: Some(client),
                    home: self.home.clone(),
                    sessions: self.sessions,
                    spoiled: false,
                });
            }
            Err(error) => error,
        };
        let why = match &error {
            PoolError::Timeout(TimeoutType::Wait) => {
                let size = self.home.pool.status().max_size;
                return Err(StoreError::Unavailable(format!(
                    "all {size} connections to the database have been busy for {} s; a larger \
                     pool (`PostgresStore::builder(..).pool_size(..)`) may help",
                    PATIENCE.as_secs()
                )));
            }
            PoolError::Timeout(_) => silent(),
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                format!("cannot connect to the database: {}", in_words(error))
            }
            PoolError::PostCreateHook(HookError::Message(words)) => words.to_string(),
            other => other.to_string(),
        };
        self.home.begin_rest(&why);
        Err(StoreError::Unavailable(why))
    }

    /// Runs a statement that changes nothing; once more if the connection breaks.
    pub(super) async fn read(
        &self,
        query: &Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        match self.write(query, values).await {
            Err(StoreError::Unsure(_)) => match self.write(query, values).await {
                Err(StoreError::Unsure(words)) => Err(StoreError::Unavailable(words)),
                read => read,
            },
            read => read,
        }
    }

    /// Runs a statement in a transaction of its own: it is done whole, or not at
    /// all.
    pub(super) async fn write(
        &self,
        query: &Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        for _ in 0..ATTEMPTS {
            match self.get().await?.run(query, values).await {
                Ok(rows) => return Ok(rows),
                Err(Trouble::Again) => {}
                Err(Trouble::Refused(error)) => return Err(error),
            }
        }
        Err(busy())
    }

    /// Begins a transaction of several statements. Dropping it without a commit
    /// closes the connection, which undoes them.
    pub(super) async fn begin(&self) -> Result<Lent, Trouble> {
        let mut lent = self.get().await?;
        lent.spoiled = true;
        let begin = format!(
            "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '{STANDSTILL}'; \
             SET LOCAL enable_seqscan = off"
        );
        lent.simple(&begin).await?;
        Ok(lent)
    }
}

impl Home {
    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has nobody try for a moment; they are told why.
    fn begin_rest(&self, why: &str) {
        let mut rest = self.rest();
        let (first, longest) = REST;
        rest.next = (rest.next * 2).clamp(first, longest);
        rest.until = Some(Instant::now() + rest.next);
        why.clone_into(&mut rest.why);
    }
}

/// A connection out of the pool.
pub(super) struct Lent {
    /// None once it is dropped.
    client: Option<Object>,
    home: Arc<Home>,
    sessions: bool,
    /// Whether nobody else should have it any more: something is under way on it.
    spoiled: bool,
}

impl Lent {
    pub(super) async fn run(
        &mut self,
        query: &Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Trouble> {
        let client = self.client.as_ref().expect(HAD);
        let answer = async {
            if self.sessions {
                let statement = client.prepare_typed_cached(&query.text, &query.types);
                client.query(&statement.await?, values).await
            } else {
                client
                    .query_typed(&query.text, &query.with_types(values))
                    .await
            }
        };
        let answer = patiently(answer).await;
        self.judge(answer)
    }

    /// Runs statements without parameters.
    async fn simple(&mut self, sql: &str) -> Result<(), Trouble> {
        let client = self.client.as_ref().expect(HAD);
        let answer = patiently(client.batch_execute(sql)).await;
        self.judge(answer)
    }

    fn judge<T>(
        &mut self,
        answer: Result<Result<T, tokio_postgres::Error>, Elapsed>,
    ) -> Result<T, Trouble> {
        if let Ok(answer) = answer {
            if answer.is_ok() {
                self.home.rest().until = None;
            }
            return answer.map_err(|error| trouble_with(&error));
        }
        // Whoever gets it next would have to wait as well, and so would whoever gets
        // one of those that lie idle: they lead the same way.
        self.spoiled = true;
        self.home.pool.retain(|_, _| false);
        let words = silent();
        self.home.begin_rest(&words);
        Err(StoreError::Unsure(words).into())
    }

    /// Ends the transaction that was begun.
    pub(super) async fn commit(mut self) -> Result<(), Trouble> {
        self.simple("COMMIT").await?;
        self.spoiled = false;
        Ok(())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.spoiled {
            // Closed when the handle on it goes, and the pool makes another.
            drop(self.client.take().map(Object::take));
        }
    }
}

const HAD: &str = "it is had until it is dropped";

/// Waits for an answer for as long as there is patience. Time in which this process
/// was stopped does not count: the answer may be there when it goes on.
async fn patiently<F: Future>(answer: F) -> Result<F::Output, Elapsed> {
    let mut answer = pin!(answer);
    let mut parts = 0..PARTS;
    loop {
        parts.next();
        match timeout(PATIENCE / PARTS, &mut answer).await {
            Err(_) if !parts.is_empty() => {}
            answered => return answered,
        }
    }
}

fn silent() -> String {
    format!("the database has not answered for {} s", PATIENCE.as_secs())
}

/// For what others keep coming in the way of.
pub(super) fn busy() -> StoreError {
    StoreError::Unavailable("too many changes at once came in the way of each other".to_owned())
}
