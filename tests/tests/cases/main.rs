//! The cases: small inputs that broke other systems of this kind, each with the
//! right behaviour, over a real transport against the fixture server.
//!
//! Tests are named by the case's number in the specification of the cases, and
//! by the store that the server keeps its tasks in. Those on PostgreSQL are ignored
//! unless they are asked for: all others need Rust alone.

mod answers;
mod changes;
mod clients;
mod fencing;
mod files;
mod gate;
mod kills;
mod life;
mod limits;
mod outages;
mod processes;
mod replicas;
mod restarts;
mod rounds;
mod seats;
mod security;
mod shutdown;
mod steps;

use mcp_tasks_tests::postgres::Database;
use mcp_tasks_tests::{Fixture, Launch, StoreFile, Transport, over_every_transport};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// Where the servers of a case keep their tasks.
#[derive(Clone, Copy, Debug)]
enum Store {
    Memory,
    /// Each server in a file of its own.
    Sqlite,
    /// Each server in a database of its own.
    Postgres,
}

impl Store {
    /// The fixture server.
    async fn start(self, transport: Transport, flags: &[&str]) -> Fixture {
        self.launch(transport, flags).await.start().await
    }

    /// The fixture server, which may be killed and started again. In a database its
    /// tasks wait until its lease is over; that it is dead only a file tells.
    async fn durable(self, transport: Transport, flags: &[&str]) -> Fixture {
        let lease: &[&str] = match self {
            Self::Memory | Self::Sqlite => &[],
            Self::Postgres => &["--lease", "1000"],
        };
        self.start(transport, &[flags, lease].concat()).await
    }

    /// The fixture server over HTTP.
    async fn http(self, flags: &[&str]) -> Fixture {
        self.start(Transport::Http, flags).await
    }

    /// One server per transport, for what must be the same over both.
    async fn both(self, flags: &[&str]) -> [Fixture; 2] {
        [
            self.start(Transport::Http, flags).await,
            self.start(Transport::Stdio, flags).await,
        ]
    }

    async fn launch(self, transport: Transport, flags: &[&str]) -> Launch {
        let launch = Launch::new(FIXTURES, transport).flags(flags);
        match self {
            Self::Memory => launch,
            Self::Sqlite => launch.on(&StoreFile::new()),
            Self::Postgres => launch.on(&Database::create().await),
        }
    }
}

/// A server over a file of its own, which may be killed and started again.
async fn durable(transport: Transport, flags: &[&str]) -> Fixture {
    Store::Sqlite.durable(transport, flags).await
}

/// Makes each case a test on every store. A case that is missing here is never
/// called, which the compiler says.
macro_rules! on_every_store {
    ($($case:ident),+ $(,)?) => {$(
        mod $case {
            use crate::Store;

            #[tokio::test]
            async fn memory() {
                super::$case(Store::Memory).await;
            }

            #[tokio::test]
            async fn sqlite() {
                super::$case(Store::Sqlite).await;
            }

            #[tokio::test]
            #[ignore = "needs PostgreSQL"]
            async fn postgres() {
                super::$case(Store::Postgres).await;
            }
        }
    )+};
}
use on_every_store;

/// Makes each case a test over every transport, on every store that processes can
/// share.
macro_rules! on_every_shared_store {
    ($($case:ident),+ $(,)?) => {$(
        mod $case {
            use crate::{Store, Transport};

            #[tokio::test]
            async fn http() {
                super::$case(Store::Sqlite, Transport::Http).await;
            }

            #[tokio::test]
            async fn stdio() {
                super::$case(Store::Sqlite, Transport::Stdio).await;
            }

            mod postgres {
                use crate::{Store, Transport};

                #[tokio::test]
                #[ignore = "needs PostgreSQL"]
                async fn http() {
                    super::super::$case(Store::Postgres, Transport::Http).await;
                }

                #[tokio::test]
                #[ignore = "needs PostgreSQL"]
                async fn stdio() {
                    super::super::$case(Store::Postgres, Transport::Stdio).await;
                }
            }
        }
    )+};
}
use on_every_shared_store;
