//! Clients of the versions before 2026-07-28 (P70): the same tools, asked about
//! on the open call, over both transports.

mod errors;
mod questions;
mod theirs;
mod withdrawn;

use mcp_tasks_tests::rounds::accepted;
use mcp_tasks_tests::{Session, Transport, over_every_transport};
use serde_json::{Value, json};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

/// The versions in which people can be asked.
const ELICITING: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// A client that can do everything.
fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

async fn open(transport: Transport, version: &str, capabilities: Value) -> Session {
    Session::open(FIXTURES, transport, version, capabilities).await
}
