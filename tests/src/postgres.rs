//! A real PostgreSQL for tests.
//!
//! The tests of one process share a server, and each has a database of its own on
//! it. The server is the one that [`VARIABLE`] names, else a private [`Cluster`]
//! that is made from the installed programs and ends with the process. A test that
//! takes the server away has a cluster of its own.

mod cluster;
mod database;
mod programs;
mod relay;
mod writes;

use std::sync::OnceLock;

use tokio_postgres::{Client, NoTls};

pub use self::cluster::Cluster;
pub use self::database::Database;
pub use self::relay::Relay;
pub use self::writes::Write;

/// The variable that names a server to use, by the URL of a role that may create
/// databases.
pub const VARIABLE: &str = "MCP_TASKS_POSTGRES";

/// A server that is up.
#[derive(Clone, Debug)]
enum Server {
    /// Somebody else's, by its URL.
    Theirs(String),
    Ours(Cluster),
}

impl Server {
    /// The server that the tests of this process share.
    async fn shared() -> Self {
        static SHARED: OnceLock<Server> = OnceLock::new();
        let shared = || {
            SHARED.get_or_init(|| match std::env::var(VARIABLE) {
                Ok(url) => Self::Theirs(url),
                Err(_) => Self::Ours(Cluster::begin(&[])),
            })
        };
        aside(move || shared().clone()).await
    }

    /// The URL of one of its databases.
    fn url(&self, database: &str) -> String {
        match self {
            Self::Theirs(url) => with_database(url, database),
            Self::Ours(cluster) => cluster.url(database),
        }
    }
}

/// Connects to a database.
///
/// # Errors
///
/// What the client says.
pub async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // It ends with the client, and what is wrong with it the client says.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

/// Runs what blocks without holding up the other tasks of a test.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// The same URL with another database in it.
fn with_database(url: &str, database: &str) -> String {
    let parts = url
        .split_once("://")
        .filter(|(scheme, _)| matches!(*scheme, "postgres" | "postgresql"));
    let (scheme, rest) = parts.unwrap_or_else(|| {
        panic!("{VARIABLE} is `{url}`; expected postgres://USER@HOST:PORT/DATABASE")
    });
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let server = rest.split_once('/').map_or(rest, |(server, _)| server);
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{query}")
    };
    format!("{scheme}://{server}/{database}{query}")
}
