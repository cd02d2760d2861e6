//! The PostgreSQL that is measured, begun or found as the tests do it.

use mcp_tasks::PostgresStore;
use tokio_postgres::Client;

use crate::tests::postgres::{Cluster, Database, VARIABLE};

/// A private server is set as it is when it is installed, and counts statements.
const SETTINGS: [(&str, &str); 1] = [("shared_preload_libraries", "pg_stat_statements")];

/// Connections, so that many commits share a flush.
const MANY: usize = 32;

/// A server, and databases on it for this run.
pub(crate) struct Server {
    /// None if it is somebody else's.
    cluster: Option<Cluster>,
    /// Where the tasks are.
    tasks: Database,
    /// Where whoever counts looks from: what is done there is in no figures.
    aside: Database,
}

impl Server {
    pub(crate) async fn open() -> Self {
        let cluster = match std::env::var_os(VARIABLE) {
            Some(_) => None,
            None => Some(Cluster::start_with(&SETTINGS).await),
        };
        let tasks = another(cluster.as_ref()).await;
        let aside = another(cluster.as_ref()).await;
        Self {
            cluster,
            tasks,
            aside,
        }
    }

    /// One more database.
    pub(crate) async fn another(&self) -> Database {
        another(self.cluster.as_ref()).await
    }

    pub(crate) fn tasks(&self) -> &Database {
        &self.tasks
    }

    pub(crate) async fn connect(&self) -> Client {
        self.tasks.connect().await
    }

    /// A connection that is in no figures.
    pub(crate) async fn connect_aside(&self) -> Client {
        self.aside.connect().await
    }

    /// A store with a schema of its own, and with as many connections as one has that
    /// is not told otherwise.
    pub(crate) async fn store(&self, schema: &str) -> PostgresStore {
        let store = PostgresStore::builder(self.tasks.url()).schema(schema);
        store.connect().await.expect("the database takes tables")
    }

    /// The same with more connections: what is done with it is not measured.
    pub(crate) async fn store_to_fill(&self, schema: &str) -> PostgresStore {
        let store = PostgresStore::builder(self.tasks.url()).schema(schema);
        let store = store.pool_size(MANY).connect().await;
        store.expect("the database takes tables")
    }
}

async fn another(cluster: Option<&Cluster>) -> Database {
    match cluster {
        Some(cluster) => cluster.database().await,
        None => Database::create().await,
    }
}
