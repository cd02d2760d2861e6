//! A database of a test's own.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::thread;

use tokio::runtime;
use tokio_postgres::Client;

use super::{Cluster, Relay, Server, connect};

/// An empty database, dropped with the last handle on it, together with whoever is
/// still connected.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<Inner>,
    url: String,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    name: String,
}

impl Database {
    /// One on the server that the tests of this process share.
    pub async fn create() -> Self {
        Self::on(Server::shared().await).await
    }

    pub(super) async fn on(server: Server) -> Self {
        // Several machines may test on one server.
        let name = format!(
            "mcp_tasks_test_{:016x}",
            RandomState::new().hash_one(std::process::id())
        );
        // The other template may have somebody connected, and is not copied then.
        let create = format!("CREATE DATABASE {name} TEMPLATE template0");
        let created = administer(&server, &create).await;
        created.unwrap_or_else(|error| panic!("{create}: {error:?}"));
        let url = server.url(&name);
        Self {
            inner: Arc::new(Inner { server, name }),
            url,
        }
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same database, for a program that is to be known there by this name.
    #[must_use]
    pub fn known_to_it_as(&self, program: &str) -> Self {
        let joint = if self.url.contains('?') { '&' } else { '?' };
        Self {
            inner: Arc::clone(&self.inner),
            url: format!("{}{joint}application_name={program}", self.url),
        }
    }

    /// The same database, reached through a relay to its cluster.
    #[must_use]
    pub fn through(&self, relay: &Relay) -> Self {
        let cluster = self.cluster().expect("a relay leads to a cluster of ours");
        let [port, relay] = [cluster.port(), relay.port()].map(|port| format!(":{port}/"));
        Self {
            inner: Arc::clone(&self.inner),
            url: self.url.replacen(&port, &relay, 1),
        }
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The cluster that it is on, if that is ours.
    pub fn cluster(&self) -> Option<&Cluster> {
        match &self.inner.server {
            Server::Ours(cluster) => Some(cluster),
            Server::Theirs(_) => None,
        }
    }

    /// A connection to it.
    pub async fn connect(&self) -> Client {
        let connected = connect(&self.url).await;
        connected.unwrap_or_else(|error| panic!("{}: {error:?}", self.url))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let server = self.server.clone();
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // The runtime that this is dropped in cannot be waited on.
        let dropped = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            runtime.block_on(administer(&server, &statement))
        });
        // A server that a test has stopped takes its databases with it.
        if let Ok(Err(error)) = dropped.join()
            && matches!(self.server, Server::Theirs(_))
        {
            eprintln!("the database {} is left: {error}", self.name);
        }
    }
}

/// Has the server do something that concerns no database, or a whole one.
async fn administer(server: &Server, statement: &str) -> Result<(), tokio_postgres::Error> {
    let url = match server {
        Server::Theirs(url) => url.clone(),
        Server::Ours(cluster) => cluster.url("postgres"),
    };
    connect(&url).await?.batch_execute(statement).await
}
