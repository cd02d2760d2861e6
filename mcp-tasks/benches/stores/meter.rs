//! The counters of a PostgreSQL server: statements and write-ahead log.

use tokio_postgres::Client;

use crate::server::Server;
use crate::tests::postgres::Database;

/// What something costs.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// Not a number where the server does not count them.
    pub(crate) statements: f64,
    /// Bytes of write-ahead log.
    pub(crate) wal: f64,
    /// Whole pages in it, which it takes in when a page is first written to after a
    /// checkpoint.
    pub(crate) pages: f64,
}

impl Cost {
    pub(crate) const NOTHING: Self = Self {
        statements: 0.0,
        wal: 0.0,
        pages: 0.0,
    };

    fn each(self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            statements: of(self.statements),
            wal: of(self.wal),
            pages: of(self.pages),
        }
    }

    /// The share of one of so many.
    #[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
    pub(crate) fn among(self, count: usize) -> Self {
        self.each(|figure| figure / count as f64)
    }

    pub(crate) fn per(self, unit: f64) -> Self {
        self.each(|figure| figure / unit)
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            statements: self.statements + other.statements,
            wal: self.wal + other.wal,
            pages: self.pages + other.pages,
        }
    }
}

impl std::ops::Sub for Cost {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            statements: self.statements - other.statements,
            wal: self.wal - other.wal,
            pages: self.pages - other.pages,
        }
    }
}

/// What is used in one database.
pub(crate) struct Meter {
    aside: Client,
    /// Whether the server counts statements.
    counts: bool,
    database: String,
}

/// How the counters stand.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// With the log of the whole server.
    all: Cost,
    /// The log of the database's statements, without that of their commits.
    wal_of_statements: f64,
}

impl Reading {
    /// Takes a statement out of what is counted from here on.
    pub(crate) fn count_one_more(&mut self) {
        self.all.statements += 1.0;
    }
}

impl Meter {
    pub(crate) async fn new(server: &Server, database: &Database) -> Self {
        let aside = server.connect_aside().await;
        let create = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements";
        let made = aside.batch_execute(create).await;
        let look = "SELECT 1 FROM pg_stat_statements LIMIT 1";
        let counts = made.is_ok() && aside.query(look, &[]).await.is_ok();
        Self {
            counts,
            aside,
            database: database.name().to_owned(),
        }
    }

    pub(crate) async fn read(&self) -> Reading {
        let position = "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8";
        let position = self.aside.query_one(position, &[]).await;
        let wal = position.expect("the server has a log").get(0);
        let [statements, pages, wal_of_statements] = if self.counts {
            self.sums().await
        } else {
            [f64::NAN; 3]
        };
        Reading {
            all: Cost {
                statements,
                wal,
                pages,
            },
            wal_of_statements,
        }
    }

    /// What is said once on each new connection does not count.
    async fn sums(&self) -> [f64; 3] {
        let sums = "SELECT coalesce(sum(calls), 0)::float8, coalesce(sum(wal_fpi), 0)::float8,
                coalesce(sum(wal_bytes), 0)::float8
            FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
            WHERE d.datname = $1 AND s.query NOT LIKE 'SET %'";
        let sums = self.aside.query_one(sums, &[&self.database]).await;
        let sums = sums.expect("it counted before");
        [sums.get(0), sums.get(1), sums.get(2)]
    }

    /// What has been used since, if nobody else used the server.
    pub(crate) async fn since(&self, before: &mut Reading) -> Cost {
        let was = std::mem::replace(before, self.read().await);
        before.all - was.all
    }

    /// The same, of this database alone among those that are used.
    pub(crate) async fn of_statements_since(&self, before: &Reading) -> Cost {
        let now = self.read().await;
        Cost {
            wal: now.wal_of_statements - before.wal_of_statements,
            ..now.all - before.all
        }
    }
}
