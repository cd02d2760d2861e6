//! The cases: small inputs that broke other systems of this kind, each with the
//! right behaviour, over a real transport against the fixture server.
//!
//! Tests are named by the case's number in the specification of the cases.

mod answers;
mod gate;
mod life;
mod security;

use mcp_tasks_tests::Fixture;

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// The fixture server over HTTP.
async fn http(flags: &[&str]) -> Fixture {
    Fixture::http(FIXTURES, flags).await
}

/// The fixture server over stdio.
fn stdio(flags: &[&str]) -> Fixture {
    Fixture::stdio(FIXTURES, flags)
}

/// One server per transport, for what must be the same over both.
async fn both(flags: &[&str]) -> [Fixture; 2] {
    [http(flags).await, stdio(flags)]
}
