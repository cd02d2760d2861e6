//! Connecting to a database, or saying why that is not possible.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::PostgresStore;
use super::clock::Clock;
use super::connections::{Connections, PoolPlan};
use super::deaths::bury_on_time;
use super::ledger::Ledger;
use super::listening::listen;
use super::news::{News, tell};
use super::query::{Name, Query};
use super::schema::{migrate, now};
use super::tls::{Tls, tls};
use super::trouble::in_words;
use crate::Error;
use crate::store::columns::time;

/// Connections of one store, if nothing else is said.
const POOL: usize = 10;

/// How long a connection may take, if the URL does not say.
const CONNECT: Duration = Duration::from_secs(10);

/// What the store connects with.
///
/// ```no_run
/// # async fn connect() -> Result<(), mcp_tasks::Error> {
/// use mcp_tasks::PostgresStore;
///
/// let store = PostgresStore::builder("postgres://deployer@db.internal/deployer")
///     .pool_size(20)
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is connected before `connect`"]
pub struct PostgresBuilder {
    url: String,
    schema: String,
    pool_size: usize,
    pooler: bool,
    listen_url: Option<String>,
}

impl PostgresBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            schema: "mcp_tasks".to_owned(),
            pool_size: POOL,
            pooler: false,
            listen_url: None,
        }
    }

    /// The schema of the tables, `mcp_tasks` by default; it is made if it is not
    /// there. Servers that are to share tasks share it.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// How many connections at most run statements; 10 by default. Two more are for
    /// heartbeats and for hearing of what other replicas do.
    pub fn pool_size(mut self, connections: usize) -> Self {
        self.pool_size = connections;
        self
    }

    /// Says that there is a transaction-mode pooler in between (`PgBouncer`,
    /// Supavisor, RDS Proxy): nothing is used then that lasts longer than a
    /// transaction.
    ///
    /// Statements are not kept prepared, which costs some time each. Notifications
    /// do not get through, so that replicas look for what others have done once a
    /// second while anybody waits for it; with [`listen_url`](Self::listen_url) they
    /// hear of it at once.
    pub fn pooler(mut self) -> Self {
        self.pooler = true;
        self
    }

    /// An address of the database past the pooler, for the one connection that
    /// listens.
    pub fn listen_url(mut self, url: impl Into<String>) -> Self {
        self.listen_url = Some(url.into());
        self
    }

    /// Connects, and brings the tables up to date.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if something is said that cannot be, and [`Error::Store`] if
    /// the database cannot be reached or used: it does not answer, refuses the role,
    /// or has tables of a newer version. What there is is left as it is.
    pub async fn connect(self) -> Result<PostgresStore, Error> {
        let (config, tls) = parse(&self.url)?;
        let listens_on = match &self.listen_url {
            Some(url) => Some(parse(url)?),
            None => (!self.pooler).then(|| (config.clone(), Tls::clone(&tls))),
        };
        if self.pool_size == 0 {
            return Err(Error::Config(
                "a store needs at least one connection: `pool_size` is 0".to_owned(),
            ));
        }
        if self.schema.is_empty() || self.schema.len() > LONGEST {
            return Err(Error::Config(format!(
                "the name of a schema has between 1 and {LONGEST} bytes, and `{}` has {}",
                self.schema,
                self.schema.len()
            )));
        }
        let place = shown(&config);
        let connected = self.try_connect(config, tls, listens_on).await;
        connected.map_err(|problem| Error::Store {
            path: place,
            problem,
        })
    }

    async fn try_connect(
        &self,
        config: Config,
        tls: Tls,
        listens_on: Option<(Config, Tls)>,
    ) -> Result<PostgresStore, String> {
        let name = Name::new(&self.schema);
        let told = |error: tokio_postgres::Error| in_words(&error);
        let (mut client, connection) = config.connect(Tls::clone(&tls)).await.map_err(told)?;
        let driving = tokio::spawn(connection);
        migrate(&mut client, &name).await?;
        let clock = Query::new(&name, concat!("SELECT ", now!()));
        let rows = clock.run_on(&client, &[]).await.map_err(told)?;
        let shown = rows.first().map_or(0, |row| row.get(0));
        drop(client);
        // It ends with its client.
        drop(driving);
        let pool = |size| {
            let sessions = !self.pooler;
            Connections::new(&config, Tls::clone(&tls), &PoolPlan { size, sessions })
        };
        let news = Arc::new(News::new());
        let clock = Clock::new(time(shown));
        let ledger = Ledger::new(pool(self.pool_size)?, pool(1)?, name, clock, news);
        let ledger = Arc::new(ledger);
        let burying = bury_on_time(Arc::downgrade(&ledger), ledger.deaths.clone());
        let mut tasks = vec![
            tokio::spawn(tell(ledger.clone())).abort_handle(),
            tokio::spawn(burying).abort_handle(),
        ];
        let listens = listens_on.is_some();
        if let Some((config, tls)) = listens_on {
            let listening = listen(Arc::downgrade(&ledger), config, tls);
            tasks.push(tokio::spawn(listening).abort_handle());
        }
        Ok(PostgresStore {
            ledger,
            listens,
            tasks,
        })
    }
}

/// Reads an address, and says what it leaves open.
fn parse(url: &str) -> Result<(Config, Tls), Error> {
    let mut config = Config::from_str(url).map_err(|error| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        let is_address = match scheme {
            Some(scheme) => matches!(scheme, "postgres" | "postgresql"),
            // `host=.. user=..` is one, too.
            None => url.contains('='),
        };
        let why = if !is_address {
            "it does not begin with `postgres://`".to_owned()
        } else if url.contains("sslmode=verify") {
            "`sslmode=require` is what verifies the certificate here".to_owned()
        } else {
            in_words(&error)
        };
        Error::Config(format!(
            "the address of the database is not one that the store takes ({why}): write \
             `postgres://USER:PASSWORD@HOST:PORT/DATABASE`",
        ))
    })?;
    if config.get_hosts().is_empty() {
        return Err(Error::Config(
            "the address of the database names no host: write \
                 `postgres://USER:PASSWORD@HOST:PORT/DATABASE`"
                .to_owned(),
        ));
    }
    if config.get_application_name().is_none() {
        config.application_name("mcp-tasks");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    // A machine that is gone without a word is found out.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(CONNECT);
    }
    config.keepalives_idle(Duration::from_secs(30));
    let tls = tls(&mut config).map_err(Error::Config)?;
    Ok((config, tls))
}

/// The longest name of a schema: with what stands before it, it is the name of a
/// channel.
const LONGEST: usize = 50;

/// Where the database is, without a password.
fn shown(config: &Config) -> PathBuf {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    let ports: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
    let port = if ports.is_empty() {
        String::new()
    } else {
        format!(":{}", ports.join(","))
    };
    let database = config.get_dbname().unwrap_or_default();
    format!("postgres://{}{port}/{database}", hosts.join(",")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        let parsed = parse(url).map(|_| ());
        parsed.expect_err("it is no address").to_string()
    }

    #[test]
    fn an_address_that_is_none_says_what_is_wrong_with_it() {
        for (url, words) in [
            ("localhost/tasks", "does not begin with `postgres://`"),
            ("mysql://me@localhost/tasks?a=b", "does not begin with"),
            ("postgres://me@localhost:port/tasks", "port"),
            ("host=localhost prot=5432", "prot"),
            (
                "postgres://localhost/tasks?sslmode=verify-full",
                "`sslmode=require`",
            ),
            ("", "names no host"),
        ] {
            let said = refused(url);
            assert!(said.contains(words), "{url:?}: {said}");
            assert!(
                said.contains("`postgres://USER:PASSWORD@HOST:PORT/DATABASE`"),
                "{said}"
            );
        }
        assert!(!refused("postgres://me:secret@localhost:port").contains("secret"));
    }

    #[test]
    fn addresses_in_both_forms_are_taken() {
        for url in ["postgresql://me@localhost/tasks", "host=localhost user=me"] {
            parse(url).expect("it is one");
        }
    }
}
