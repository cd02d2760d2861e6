//! The cases: small inputs that broke other systems of this kind, each with the
//! right behaviour, over a real transport against the fixture server.
//!
//! Tests are named by the case's number in the specification of the cases, and
//! by the store that the server keeps its tasks in.

mod answers;
mod changes;
mod clients;
mod files;
mod gate;
mod kills;
mod life;
mod limits;
mod processes;
mod restarts;
mod rounds;
mod seats;
mod security;
mod shutdown;
mod steps;

use mcp_tasks_tests::{Fixture, Launch, StoreFile, Transport, over_every_transport};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// Where the servers of a case keep their tasks.
#[derive(Clone, Copy, Debug)]
enum Store {
    Memory,
    /// Each server in a file of its own.
    Sqlite,
}

impl Store {
    /// The fixture server over HTTP.
    async fn http(self, flags: &[&str]) -> Fixture {
        self.launch(Transport::Http, flags).start().await
    }

    /// One server per transport, for what must be the same over both.
    async fn both(self, flags: &[&str]) -> [Fixture; 2] {
        let [http, stdio] = Transport::ALL.map(|transport| self.launch(transport, flags));
        [http.start().await, stdio.start().await]
    }

    fn launch(self, transport: Transport, flags: &[&str]) -> Launch {
        let launch = Launch::new(FIXTURES, transport).flags(flags);
        match self {
            Self::Memory => launch,
            Self::Sqlite => launch.on(&StoreFile::new()),
        }
    }
}

/// A server over a file of its own, which may be killed and started again.
async fn durable(transport: Transport, flags: &[&str]) -> Fixture {
    Store::Sqlite.launch(transport, flags).start().await
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
        }
    )+};
}
use on_every_store;
